import type { Queryable } from "../../database/database.ts";

/** A secret of all servers on a database, as it is stored. */
export interface SharedSecretRow {
  readonly hash: string;
  /** The server that created it, and the file that holds it there. */
  readonly madeOn: string;
  readonly createdAt: Date;
}

export async function selectSharedSecret(
  database: Queryable,
  name: string,
): Promise<SharedSecretRow | undefined> {
  const [row] = await database.query<SharedSecretRow>(
    `select secret_hash as hash, made_on as "madeOn", created_at as "createdAt"
     from shared_secrets where name = $1`,
    [name],
  );
  return row;
}

/** @returns whether it was stored; false where another server was first. */
export async function insertSharedSecret(
  database: Queryable,
  name: string,
  { hash, madeOn, createdAt }: SharedSecretRow,
): Promise<boolean> {
  const rows = await database.query(
    `insert into shared_secrets (name, secret_hash, made_on, created_at) values ($1, $2, $3, $4)
     on conflict do nothing returning name`,
    [name, hash, madeOn, createdAt],
  );
  return rows.length > 0;
}
