import type { Queryable, Transaction } from "../../database/database.ts";

/** There is one row. */
const NAME = "secrets";

/** The key in use. */
export interface KeyCheck {
  /** A value that opens only with the key. */
  readonly check: string;
  /** The server that created the key and the file that holds it there; null for a configured key. */
  readonly keptOn: string | null;
}

/** The key in use; undefined until a server or the first secret says it. */
export async function selectCheck(database: Queryable): Promise<KeyCheck | undefined> {
  const [row] = await database.query<KeyCheck>(
    'select check_value as "check", kept_on as "keptOn" from sealing_keys where name = $1',
    [NAME],
  );
  return row;
}

/** @returns whether it was stored; false where another server was first. */
export async function insertFirstCheck(
  database: Queryable,
  { check, keptOn }: KeyCheck,
): Promise<boolean> {
  const rows = await database.query(
    `insert into sealing_keys (name, check_value, kept_on) values ($1, $2, $3)
     on conflict do nothing returning name`,
    [NAME, check, keptOn],
  );
  return rows.length > 0;
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
  await tx.query("update sealing_keys set check_value = $2, kept_on = null where name = $1", [
    NAME,
    check,
  ]);
}

export async function deleteCheck(tx: Transaction): Promise<void> {
  await tx.query("delete from sealing_keys where name = $1", [NAME]);
}
