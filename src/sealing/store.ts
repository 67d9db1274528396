import type { Queryable, Transaction } from "../database/database.ts";

/** There is one row. */
const NAME = "secrets";

/** The check value of the key in use; undefined until the first secret is stored. */
export async function selectCheck(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ check: string }>(
    'select check_value as "check" from sealing_keys where name = $1',
    [NAME],
  );
  return row?.check;
}

/**
 * Stores the check value of the first key, unless there is one. It locks the row, so that no secret is
 * stored while a rotation runs.
 *
 * @returns the check value of the key in use.
 */
export async function insertCheck(tx: Transaction, check: string): Promise<string> {
  const [row] = await tx.query<{ check: string }>(
    `insert into sealing_keys (name, check_value) values ($1, $2)
     on conflict (name) do update set name = excluded.name
     returning check_value as "check"`,
    [NAME, check],
  );
  return (row as { check: string }).check;
}

export async function updateCheck(tx: Transaction, check: string): Promise<void> {
  await tx.query("update sealing_keys set check_value = $2 where name = $1", [NAME, check]);
}

export async function deleteCheck(tx: Transaction): Promise<void> {
  await tx.query("delete from sealing_keys where name = $1", [NAME]);
}
