import type { Queryable, Transaction } from "../../core/database/database.ts";
import type { Defaults } from "./protocol/directory.ts";

/** @returns undefined if the company declares none. */
export async function selectDefaults(
  database: Queryable,
  companyId: string,
): Promise<Defaults | undefined> {
  const rows = await database.query<{ defaults: Defaults }>(
    "select defaults from scim_defaults where company_id = $1",
    [companyId],
  );
  return rows[0]?.defaults;
}

export const selectAllDefaults = (
  database: Queryable,
): Promise<{ readonly companyId: string; readonly defaults: Defaults }[]> =>
  database.query('select company_id as "companyId", defaults from scim_defaults');

export const upsertDefaults = (tx: Transaction, companyId: string, defaults: Defaults) =>
  tx.execute(
    `insert into scim_defaults (company_id, defaults) values ($1, $2::text::jsonb)
     on conflict (company_id) do update set defaults = excluded.defaults`,
    [companyId, JSON.stringify(defaults)],
  );
