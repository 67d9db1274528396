import { SourceUnfit } from "../../core/outbound/unfit.ts";
import type { IntegrationType } from "./integration.ts";
import {
  IDENTIFIER_COLUMNS,
  type IdentifierColumn,
  type SourceColumn,
  type TableShape,
} from "./sources/source.ts";

/** How a table may spell the parts that have two names. */
const OTHER_NAMES: Readonly<Partial<Record<IdentifierColumn, string>>> = {
  platform_id: "braze_id",
};

/**
 * Finds the documented columns in a table, ignoring the case of their names: `UPDATED_AT`, at least
 * one identifier (an alias is the pair `ALIAS_NAME` and `ALIAS_LABEL`), and `PAYLOAD`, which a
 * table of deletions must not have.
 *
 * @throws SourceUnfit that names the column and the rule. decision: docs/decisions/warehouse-rows.md
 */
export function readTableShape(
  columns: readonly SourceColumn[],
  type: IntegrationType,
): TableShape {
  const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  refuseDoubles(columns, byName);
  const updatedAt = byName.get("updated_at");
  if (!updatedAt) throw new SourceUnfit("The table has no column UPDATED_AT.");
  if (!updatedAt.isTime) throw new SourceUnfit("The column UPDATED_AT is not a date and time.");
  return {
    updatedAt,
    identifiers: findIdentifiers(byName),
    payload: findPayload(byName.get("payload"), type),
  };
}

/** Quoted names may differ only in case; then it is unclear which of them is meant. */
function refuseDoubles(
  columns: readonly SourceColumn[],
  byName: ReadonlyMap<string, SourceColumn>,
): void {
  for (const name of ["updated_at", "payload", "braze_id", ...IDENTIFIER_COLUMNS]) {
    const other = columns.find((each) => each.name.toLowerCase() === name);
    if (other === byName.get(name)) continue;
    throw new SourceUnfit(`The table has more than one column ${name.toUpperCase()}.`);
  }
}

function findIdentifiers(byName: ReadonlyMap<string, SourceColumn>): TableShape["identifiers"] {
  const identifiers = IDENTIFIER_COLUMNS.flatMap((part) => {
    const column = byName.get(part) ?? byName.get(OTHER_NAMES[part] ?? "");
    return column ? [{ ...column, part }] : [];
  });
  const parts = new Set(identifiers.map(({ part }) => part));
  if (parts.has("alias_name") !== parts.has("alias_label")) {
    throw new SourceUnfit("ALIAS_NAME and ALIAS_LABEL belong together: the table has one of them.");
  }
  if (parts.size === 0) {
    throw new SourceUnfit(
      "The table has no column that names a user: EXTERNAL_ID, ALIAS_NAME and ALIAS_LABEL, " +
        "PLATFORM_ID, EMAIL or PHONE.",
    );
  }
  for (const { name, isText } of identifiers) {
    // A fraction has no one spelling: 7 would become "7.0" on its way, and name another user.
    if (!isText) throw new SourceUnfit(`The column ${name} must be text or whole numbers.`);
  }
  return identifiers;
}

function findPayload(
  column: SourceColumn | undefined,
  type: IntegrationType,
): SourceColumn | undefined {
  if (type === "delete") {
    if (!column) return undefined;
    throw new SourceUnfit("A table of users to delete must not have a column PAYLOAD.");
  }
  if (!column) throw new SourceUnfit(`A table of ${type} needs a column PAYLOAD.`);
  if (!column.isText && !column.isNested) {
    throw new SourceUnfit("The column PAYLOAD must be JSON as text, or an object.");
  }
  return column;
}
