import { Button, MultiSelect, Progress, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import {
  columnOfAttribute,
  headerLine,
  STANDARD_COLUMNS,
  userLine,
} from "../../../../src/features/segments/csv.ts";
import { useAttributeNames } from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { RAPPORT } from "../../components/command.ts";
import { Dialog, useClose } from "../../components/dialog.tsx";
import { download } from "../../components/download.ts";
import { tellDone } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { type FilterJson, readSegmentUsers } from "./api.ts";

interface ExportUsersProps {
  readonly filter: FilterJson;
  readonly fileName: string;
  /** About how many users there are. */
  readonly expected: number | undefined;
}

const FIRST_COLUMNS = ["external_id", "first_name", "last_name", "email", "country"];

/** The browser keeps the whole file in memory; `rapport segments export` has no such limit. */
const MOST_EXPORTED = 500_000;

/** Downloads the users who meet a filter as a CSV with chosen columns. */
export function ExportUsers({ filter, fileName, expected }: ExportUsersProps) {
  const close = useClose();
  const workspace = useWorkspace();
  const names = useAttributeNames();
  const [columns, setColumns] = useState<string[]>(FIRST_COLUMNS);
  const [done, setDone] = useState(0);
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const exporting = useMutation({
    mutationFn: async () => {
      const parts = [headerLine(columns)];
      let [cursor, count]: [string | null, number] = [null, 0];
      do {
        const page: Awaited<ReturnType<typeof readSegmentUsers>> = await readSegmentUsers(
          workspace,
          filter,
          1_000,
          cursor,
        );
        if (!isOpen.current) return;
        parts.push(page.users.map((user) => userLine(user, columns)).join(""));
        cursor = page.cursor;
        count += page.users.length;
        setDone(count);
      } while (cursor !== null && count < MOST_EXPORTED);
      download(`${fileName.replace(/[^\p{L}\p{N} ._-]/gu, "_")}.csv`, parts.join(""), "text/csv");
      const isCut = cursor !== null;
      tellDone(
        `Exported ${count.toLocaleString()} users${isCut ? `; ${RAPPORT} segments export has no limit` : ""}.`,
      );
      close();
    },
  });
  const custom = names.data?.entries.map(({ name }) => name) ?? [];
  const share = expected ? Math.min(99, (100 * done) / expected) : 50;
  return (
    <Dialog title="Export users">
      <Stack>
        <SaveFailure error={exporting.error} />
        <MultiSelect
          label="Columns"
          description="In this order; remove one to move it."
          searchable
          value={columns}
          onChange={setColumns}
          data={[
            { group: "Standard", items: [...STANDARD_COLUMNS] },
            {
              group: "Custom attributes",
              items: custom.map((name) => ({ value: columnOfAttribute(name), label: name })),
            },
          ]}
        />
        {exporting.isPending && (
          <div role="status">
            <Progress value={share} aria-label="Exported users" />
            <p>
              {done.toLocaleString()} users
              {expected ? ` of about ${expected.toLocaleString()}` : ""}
            </p>
          </div>
        )}
        <div className="toolbar">
          <Button
            loading={exporting.isPending}
            disabled={columns.length === 0}
            onClick={() => exporting.mutate()}
          >
            Download the CSV
          </Button>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
        </div>
      </Stack>
    </Dialog>
  );
}
