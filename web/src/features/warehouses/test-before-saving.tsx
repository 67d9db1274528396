import { useMutation } from "@tanstack/react-query";
import { messageOf } from "../../api/api-error.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { Notice } from "../../components/states.tsx";
import { type ChangeToTest, type TestedRow, useTestChange } from "./api.ts";

const COLUMNS: Column<TestedRow>[] = [
  {
    id: "user",
    header: "User",
    cell: ({ row }) => Object.values(row.original.identity).join(", ") || "None",
  },
  {
    id: "becomes",
    header: "Becomes",
    cell: ({ row: { original: row } }) => (row.payload ? <code>{row.payload}</code> : "–"),
  },
  {
    id: "verdict",
    header: "Verdict",
    cell: ({ row: { original: row } }) => row.message ?? "Would be synced",
  },
];

interface TestBeforeSavingProps {
  readonly workspace: string;
  /** What is in the form; undefined if something is missing there, which it then says. */
  changed(): ChangeToTest | undefined;
}

/** Tries the source that a form names, and shows what five of its rows become. */
export function TestBeforeSaving({ workspace, changed }: TestBeforeSavingProps) {
  const test = useTestChange(workspace);
  const { mutate, data, error, isPending } = useMutation({ mutationFn: test });
  const start = () => {
    const change = changed();
    if (change) mutate(change);
  };
  return (
    <div className="stack" aria-live="polite">
      <PermittedButton
        workspace={workspace}
        needs={["manage_external_integrations", "view_pii"]}
        variant="default"
        loading={isPending}
        onClick={start}
      >
        Test
      </PermittedButton>
      {error && <Notice tone="bad">{messageOf(error)}</Notice>}
      {data && !isPending && (
        <>
          {data.problem ? (
            <Notice tone="bad" title="A sync would fail">
              {data.problem}
            </Notice>
          ) : (
            <p>
              A sync would read {(data.rows_to_read ?? 0).toLocaleString()}{" "}
              {data.rows_to_read === 1 ? "row" : "rows"}
              {data.rows.length > 0 ? ". The first ones:" : "."}
            </p>
          )}
          {data.rows.length > 0 && (
            <DataTable
              label="The first rows"
              columns={COLUMNS}
              rows={data.rows}
              // Two events of a user may have the same time.
              keyOf={(row) => String(data.rows.indexOf(row))}
              empty={null}
            />
          )}
        </>
      )}
    </div>
  );
}
