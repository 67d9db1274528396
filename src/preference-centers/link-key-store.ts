import type { Database } from "../database/database.ts";

/** The secret for a purpose: the one that is kept, or else `fresh`, which is kept from now on. */
export async function keepLinkKey(
  database: Database,
  purpose: string,
  fresh: string,
  now: Date,
): Promise<string> {
  const kept = await selectLinkKey(database, purpose);
  if (kept !== undefined) return kept;
  // Of two processes that make one at the same time, both read the first.
  await database.query(
    "insert into link_keys (purpose, secret, created_at) values ($1, $2, $3) on conflict do nothing",
    [purpose, fresh, now],
  );
  return (await selectLinkKey(database, purpose)) ?? fresh;
}

async function selectLinkKey(database: Database, purpose: string): Promise<string | undefined> {
  const rows = await database.query<{ secret: string }>(
    "select secret from link_keys where purpose = $1",
    [purpose],
  );
  return rows[0]?.secret;
}
