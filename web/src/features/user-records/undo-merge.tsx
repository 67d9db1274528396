import { Button, Group, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { type UndoEffect, useUndoMerge } from "../../api/users.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { shortValue } from "../../components/json.tsx";
import { Absent } from "../../components/page.tsx";
import { Notice } from "../../components/states.tsx";
import { sentence, Tag } from "../../components/tag.tsx";

interface UndoMergeProps {
  readonly workspace: string;
  /** The merge. */
  readonly id: string;
  close(): void;
}

/** Previews the undo of a merge field by field, then undoes it. */
export function UndoMerge({ workspace, id, close }: UndoMergeProps) {
  const undo = useUndoMerge();
  const navigate = useNavigate();
  const { send, data, error, isPending } = undo;
  // biome-ignore lint/correctness/useExhaustiveDependencies: one preview for each merge.
  useEffect(() => {
    void send(workspace, id, true).catch(() => undefined);
  }, [workspace, id]);
  const confirm = async () => {
    const { merged } = await send(workspace, id, false);
    tellDone(`${merged.external_id ?? merged.platform_id} is back.`);
    close();
    await navigate({
      to: "/w/$workspace/users/$id",
      params: { workspace, id: merged.platform_id },
    });
  };
  return (
    <Dialog title="Undo the merge" size="xl" close={close}>
      <Stack>
        <SaveFailure error={error} />
        {data && (
          <>
            <Notice tone="info">
              {data.merged.external_id ?? data.merged.platform_id} comes back as they were.{" "}
              {data.kept.external_id ?? data.kept.platform_id} loses what came from them, and keeps
              what happened since.
            </Notice>
            <Effects effects={data.effects} />
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            loading={isPending}
            disabled={!data}
            onClick={() => void confirm().catch(() => undefined)}
          >
            Undo
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const Effects = ({ effects }: { readonly effects: readonly UndoEffect[] }) => (
  <DataTable
    label="Effects of the undo"
    rows={effects}
    keyOf={(effect) => `${effect.field} ${effect.name ?? ""}`}
    empty={<p className="dim card-body">The returning user has no data.</p>}
    columns={[
      {
        id: "field",
        header: "Field",
        cell: ({ row: { original: effect } }) => (
          <>
            {sentence(effect.field)} {effect.name && <code>{effect.name}</code>}
          </>
        ),
      },
      {
        id: "merged",
        header: "Returning user",
        cell: ({ row }) => <Side value={row.original.merged} />,
      },
      {
        id: "kept",
        header: "Kept user now",
        cell: ({ row }) => <Side value={row.original.kept} />,
      },
      {
        id: "result",
        header: "Kept user after",
        cell: ({ row }) => <Side value={row.original.result} />,
      },
      {
        id: "effect",
        header: "Effect",
        meta: { width: "9rem" },
        cell: ({ row }) => <Tag tone="info">{sentence(row.original.effect)}</Tag>,
      },
    ]}
  />
);

const Side = ({ value }: { readonly value: unknown }) =>
  value === null || value === undefined ? (
    <Absent />
  ) : (
    <span className="mono">{shortValue(value).slice(0, 400)}</span>
  );
