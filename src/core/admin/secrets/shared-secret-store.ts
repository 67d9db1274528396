import type { Queryable, Transaction } from "../../database/database.ts";

/** A secret that all servers on a database share, as the database knows it. */
export interface SharedSecretRow {
  /** Proves the secret without holding it: the hash of a token, or a text that opens only with the key. */
  readonly check: string;
  /**
   * The server that generated the secret and the file that keeps it there; null for a configured
   * one.
   */
  readonly keptOn: string | null;
  readonly createdAt: Date;
}

const ROW = 'check_value as "check", kept_on as "keptOn", created_at as "createdAt"';

/** Undefined until a server decides which secret it is. */
export async function selectSharedSecret(database: Queryable, name: string) {
  const [row] = await database.query<SharedSecretRow>(
    `select ${ROW} from shared_secrets where name = $1`,
    [name],
  );
  return row;
}

/**
 * Agrees on a secret with all servers on the database: the first one decides. The row stays locked until the
 * transaction ends.
 *
 * @returns the secret that is decided, and whether this call decided it.
 */
export async function agreeOn(
  database: Queryable,
  name: string,
  { check, keptOn }: Pick<SharedSecretRow, "check" | "keptOn">,
): Promise<SharedSecretRow & { readonly isNew: boolean }> {
  // Only a row that no transaction has changed or locked yet has no xmax.
  const [row] = await database.query<SharedSecretRow & { isNew: boolean }>(
    `insert into shared_secrets (name, check_value, kept_on) values ($1, $2, $3)
     on conflict (name) do update set name = excluded.name
     returning ${ROW}, xmax = 0 as "isNew"`,
    [name, check, keptOn],
  );
  return row as SharedSecretRow & { isNew: boolean };
}

/** Replaces a secret by one that every server has in its settings. */
export const replaceSharedSecret = (tx: Transaction, name: string, check: string) =>
  tx.execute(
    `update shared_secrets set check_value = $2, kept_on = null, created_at = now()
     where name = $1`,
    [name, check],
  );

/** Replaces a check value by another one of the same secret, unless it was replaced meanwhile. */
export const updateCheck = (database: Queryable, name: string, before: string, check: string) =>
  database.execute(
    "update shared_secrets set check_value = $3 where name = $1 and check_value = $2",
    [name, before, check],
  );

/** The next server decides again. */
export const deleteSharedSecret = (tx: Transaction, name: string) =>
  tx.execute("delete from shared_secrets where name = $1", [name]);
