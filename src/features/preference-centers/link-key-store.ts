import type { Queryable, Transaction } from "../../core/database/database.ts";

export interface LinkKey {
  /** Counts from 1; the highest signs. */
  readonly version: number;
  /** Sealed in the database. */
  readonly secret: string;
  /** When links signed with it stop opening; null for the key in use. */
  readonly goodUntil: Date | null;
}

/** All keys for a purpose that are still good, the newest first. */
export const selectLinkKeys = (database: Queryable, purpose: string, now: Date) =>
  database.query<LinkKey>(
    `select version, secret, good_until as "goodUntil" from link_keys
     where purpose = $1 and (good_until is null or good_until > $2) order by version desc`,
    [purpose, now],
  );

/** The highest version so far; 0 before the first. */
export async function selectLastVersion(database: Queryable, purpose: string): Promise<number> {
  const [row] = await database.query<{ version: number | null }>(
    "select max(version) as version from link_keys where purpose = $1",
    [purpose],
  );
  return row?.version ?? 0;
}

/** Adds a key, unless another process added that version first. */
export const insertLinkKey = (
  database: Queryable,
  purpose: string,
  { version, secret }: Pick<LinkKey, "version" | "secret">,
  now: Date,
) =>
  database.query(
    `insert into link_keys (purpose, version, secret, created_at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [purpose, version, secret, now],
  );

export const selectSecrets = (database: Queryable, purpose: string) =>
  database.query<Pick<LinkKey, "version" | "secret">>(
    "select version, secret from link_keys where purpose = $1 order by version",
    [purpose],
  );

export const updateSecrets = (
  tx: Queryable,
  purpose: string,
  keys: readonly Pick<LinkKey, "version" | "secret">[],
) =>
  tx.execute(
    `update link_keys set secret = new.secret
     from unnest($2::int[], $3::text[]) as new (version, secret)
     where purpose = $1 and link_keys.version = new.version`,
    [purpose, keys.map((key) => key.version), keys.map((key) => key.secret)],
  );

export const deleteLinkKeys = (tx: Transaction, purpose: string, versions: readonly number[]) =>
  tx.execute("delete from link_keys where purpose = $1 and version = any($2::int[])", [
    purpose,
    versions,
  ]);

/** Sets an end to all valid keys; a key that ends earlier keeps its end. */
export const retireLinkKeys = (tx: Transaction, purpose: string, goodUntil: Date) =>
  tx.execute(
    `update link_keys set good_until = $2
     where purpose = $1 and (good_until is null or good_until > $2)`,
    [purpose, goodUntil],
  );
