import type { Schemas } from "../../api/client.ts";
import { column, DataTable } from "../../components/data-table.tsx";
import { shortValue } from "../../components/json.tsx";
import { Absent } from "../../components/page.tsx";
import { sentence, Tag } from "../../components/tag.tsx";

type Effect = Schemas["MergeEffect"] | Schemas["UndoEffect"];

interface EffectsProps {
  readonly label: string;
  readonly of: readonly Effect[];
  /** The headers of the values, in their order. */
  readonly values: readonly (readonly ["kept" | "merged" | "result", header: string])[];
  /** What is said if there is none. */
  readonly none: string;
}

/** What a merge, or its undo, does to each field. */
export const Effects = ({ label, of: effects, values, none }: EffectsProps) => (
  <DataTable
    label={label}
    rows={effects}
    keyOf={({ field, name }) => `${field} ${name ?? ""}`}
    empty={<p className="dim card-body">{none}</p>}
    columns={[
      column<Effect>("Field", ({ field, name }) => (
        <>
          {sentence(field)} {name && <code>{name}</code>}
        </>
      )),
      ...values.map(([side, header]) =>
        column<Effect>(header, (effect) => <Side value={effect[side]} />),
      ),
      column<Effect>("Effect", { width: "9rem" }, ({ effect }) => (
        <Tag tone="info">{sentence(effect)}</Tag>
      )),
    ]}
  />
);

const Side = ({ value }: { readonly value: unknown }) =>
  value === null || value === undefined ? (
    <Absent />
  ) : (
    <span className="mono">{shortValue(value).slice(0, 400)}</span>
  );
