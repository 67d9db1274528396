import { Button, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { ScrollText, ShieldCheck } from "lucide-react";
import { useMemo, useState } from "react";
import { useAudit, verifyAudit } from "../../api/administration.ts";
import { messageOf } from "../../api/api-error.ts";
import { morePages } from "../../api/pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Json } from "../../components/json.tsx";
import { RowButton } from "../../components/row-button.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly workspace: string | null;
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly address: string | null;
}

export function Audit() {
  const [text, setText] = useState("");
  const [name] = useDebouncedValue(text.trim(), 250);
  const [open, setOpen] = useState<string>();
  const pages = useAudit(name ? { name } : {});
  const entries = useMemo(
    () => pages.data?.pages.flatMap((page) => page.entries) ?? [],
    [pages.data],
  );
  const columns = useMemo(() => columnsOf(open, setOpen), [open]);
  return (
    <>
      <div className="toolbar">
        <TextInput
          className="grow"
          aria-label="Only changes of"
          placeholder="The whole name or id of what was changed"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Verify />
      </div>
      <Loaded from={pages}>
        {() => (
          <DataTable
            label="Audit log"
            columns={columns}
            rows={entries}
            keyOf={({ id }) => id}
            more={morePages(pages)}
            openKey={open}
            detail={(entry) => <Json value={entry} label="Entry" />}
            empty={<Empty icon={ScrollText} title="No change with this name" />}
          />
        )}
      </Loaded>
    </>
  );
}

/** Checks the chain of the whole audit. */
function Verify() {
  const { mutate, data, error, isPending } = useMutation({ mutationFn: verifyAudit });
  return (
    <>
      <Button
        variant="default"
        leftSection={<ShieldCheck size={15} />}
        loading={isPending}
        onClick={() => mutate()}
      >
        Verify
      </Button>
      {error && <Notice tone="bad">{messageOf(error)}</Notice>}
      {data && (
        <Notice tone={data.intact ? "good" : "bad"}>
          {data.intact
            ? `Intact: none of ${data.entries.toLocaleString("en")} entries was changed or removed.`
            : `Broken at entry ${data.broken_at?.position}.`}
        </Notice>
      )}
    </>
  );
}

const columnsOf = (
  open: string | undefined,
  setOpen: (id: string | undefined) => void,
): readonly Column<Entry>[] => [
  {
    id: "what",
    header: "Change",
    cell: ({ row: { original: entry } }) => (
      <RowButton
        isOpen={entry.id === open}
        onClick={() => setOpen(entry.id === open ? undefined : entry.id)}
      >
        {sentence(entry.action)} {entry.kind.replaceAll("_", " ")}{" "}
        <span className="dim">{entry.name}</span>
      </RowButton>
    ),
  },
  {
    id: "workspace",
    header: "Workspace",
    meta: { wideOnly: true, width: "9rem" },
    cell: ({ row }) => row.original.workspace ?? <span className="dim">Company</span>,
  },
  {
    id: "actor",
    header: "By",
    meta: { wideOnly: true, width: "14rem" },
    cell: ({ row: { original: entry } }) => (
      <>
        {entry.actor_name ?? sentence(entry.actor)}
        {entry.address && <div className="dim">{entry.address}</div>}
      </>
    ),
  },
  {
    id: "at",
    header: "When",
    meta: { width: "8.5rem" },
    cell: ({ row }) => (
      <span className="above">
        <Time at={row.original.at} />
      </span>
    ),
  },
];
