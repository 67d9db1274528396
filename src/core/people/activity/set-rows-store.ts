import { bucketsOfIds } from "../../database/buckets.ts";
import type { Transaction } from "../../database/database.ts";
import type { Of } from "./activity.ts";

/** A column beside workspace, bucket and profile: its name, its type, and the member that holds its value. */
type Column<Row> = readonly [name: string, type: string, member: keyof Row];

/** Types whose values are sent as text: JSON is written here, and decimals stay exact. */
const SENT_AS_TEXT = ["jsonb", "numeric"];

/**
 * Sets rows of a table: a row that is stored under the same profile and key takes the other values. Of the rows of a
 * call at most one may have the same profile and key.
 */
export function setterOf<Row>(
  table: string,
  key: readonly Column<Row>[],
  values: readonly Column<Row>[],
): (tx: Transaction, workspaceId: number, rows: readonly Of<Row>[]) => Promise<void> {
  const columns = [...key, ...values];
  const namesOf = (some: readonly Column<Row>[]) => some.map(([name]) => name).join(", ");
  const lists = columns.map(
    ([, type], index) => `$${index + 3}::${SENT_AS_TEXT.includes(type) ? "text" : type}[]`,
  );
  const statement = `
    insert into ${table} (workspace_id, bucket, profile_id, ${namesOf(columns)})
    select $1, bucket, profile_id, ${columns.map(([name, type]) => `${name}::${type}`).join(", ")}
    from buckets join unnest($2::uuid[], ${lists.join(", ")}, $${columns.length + 3}::smallint[])
      as new (profile_id, ${namesOf(columns)}, bucket) using (bucket)
    where bucket = any($${columns.length + 4}::smallint[])
    on conflict (workspace_id, profile_id, bucket, ${namesOf(key)}) do update set
      ${values.map(([name]) => `${name} = excluded.${name}`).join(", ")}`;
  return async (tx, workspaceId, rows) => {
    if (rows.length === 0) return;
    const profileIds = rows.map(({ profileId }) => profileId);
    const buckets = bucketsOfIds(profileIds);
    const sent = columns.map(([, type, member]) =>
      rows.map((row) => (type === "jsonb" ? JSON.stringify(row[member]) : row[member])),
    );
    await tx.query(statement, [workspaceId, profileIds, ...sent, buckets.each, buckets.all]);
  };
}
