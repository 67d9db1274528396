import { useMutation } from "@tanstack/react-query";
import { messageOf } from "../../api/api-error.ts";
import { type Column, column, DataTable } from "../../components/data-table.tsx";
import { shortValue } from "../../components/json.tsx";
import { amountText, numberText } from "../../components/numbers.ts";
import { PermittedButton } from "../../components/permitted.tsx";
import { Notice } from "../../components/states.tsx";
import { exactTime } from "../../components/time.tsx";
import { type ChangeToTest, type IntegrationChange, type TestedRow, useTestChange } from "./api.ts";

const columnsOf = (type: IntegrationChange["type"]): Column<TestedRow>[] => [
  column("User", ({ identity }) => Object.values(identity).join(", ") || "None"),
  column("Becomes", { width: "50%" }, (row) => (
    <>
      {(row.code === null ? becomes(type, row) : ["–"]).map((line) => (
        <div key={line} dir="auto">
          {line}
        </div>
      ))}
      {row.payload && (
        <details>
          <summary className="dim">Payload</summary>
          <code>{row.payload}</code>
        </details>
      )}
    </>
  )),
  column("Verdict", (row) => row.message ?? "Would be synced"),
];

/** What a row does, a line for each part of it. */
function becomes(type: IntegrationChange["type"], { item, updated_at }: TestedRow): string[] {
  if (type === "delete" || !item) return ["The user is deleted."];
  const at = exactTime(String(item.time ?? updated_at));
  const properties = linesOf((item.properties ?? {}) as Members);
  if (type === "events") return [`The event ${item.name}, ${at}`, ...properties];
  if (type === "attributes") return linesOf(item);
  const price = amountText(Number(item.price), String(item.currency));
  const bought = `${numberText(Number(item.quantity ?? 1))} × ${price}`;
  return [`A purchase of ${item.product_id}, ${bought}, ${at}`, ...properties];
}

type Members = Readonly<Record<string, unknown>>;

const linesOf = (members: Members): string[] =>
  Object.entries(members).map(([name, value]) =>
    value === null ? `${name} is removed` : `${name} → ${shortValue(value)}`,
  );

interface TestBeforeSavingProps {
  /** What is in the form; undefined if something is missing there, which it then says. */
  changed(): ChangeToTest | undefined;
}

/** Tries the source that a form names, and shows what five of its rows become. */
export function TestBeforeSaving({ changed }: TestBeforeSavingProps) {
  const test = useTestChange();
  const { mutate, data, error, isPending, variables } = useMutation({ mutationFn: test });
  const start = () => {
    const change = changed();
    if (change) mutate(change);
  };
  return (
    <div className="stack" aria-live="polite">
      <PermittedButton
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
              columns={columnsOf(variables?.body.type)}
              rows={data.rows}
              // Two events of a user may have the same time.
              keyOf={(row) => String(data.rows.indexOf(row))}
            />
          )}
        </>
      )}
    </div>
  );
}
