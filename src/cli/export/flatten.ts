/*
 * A row of an export as cells of a table. Members of nested objects become columns of their own
 * (`properties.size`), lists become JSON. What an import would not take back is left out.
 */

type Row = Readonly<Record<string, unknown>>;

/** Members that hold an object with names of the user's own choice, or an alias. */
const NESTED = ["properties", "custom_attributes", "user_alias"];

/** Members that follow from others, or repeat them under another name. */
const LEFT_OUT = [
  "braze_id",
  "created_at",
  "random_bucket",
  "custom_events",
  "purchases",
  "total_revenue",
  "revenue_by_currency",
  "merged_ids",
  "changed_at",
];

/** The cells of a row by column; absent, null and empty values have none. */
export function flatten(row: Row): Map<string, string> {
  const cells = new Map<string, string>();
  for (const [name, value] of Object.entries(row)) {
    if (LEFT_OUT.includes(name)) continue;
    if (NESTED.includes(name) && isObject(value)) {
      for (const [member, each] of Object.entries(value)) set(`${name}.${member}`, each);
    } else set(name, value);
  }
  return cells;

  function set(column: string, value: unknown): void {
    if (value === null || value === undefined) return;
    if (Array.isArray(value) && value.length === 0) return;
    cells.set(column, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
}

const isObject = (value: unknown): value is Row => typeof value === "object" && value !== null;
