import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type { Declared } from "../campaigns/feature.ts";
import type { Locale } from "./locale.ts";

export const selectLocales = (database: Queryable, workspaceId: number) =>
  database.query<Locale & Declared>(
    `select locale_id as id, name, country, language, locale_key as "localeKey", declared
     from locales where workspace_id = $1
     order by lower(locale_key)`,
    [workspaceId],
  );

/** Creates or changes locales. A key in use is a duplicate. */
export async function upsertLocales(
  tx: Transaction,
  workspaceId: number,
  locales: readonly (Locale & Declared)[],
): Promise<void> {
  if (locales.length === 0) return;
  await tx.query(
    `insert into locales (workspace_id, locale_id, name, country, language, locale_key, declared)
     select $1, id, name, country, language, locale_key, declared
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])
       as new (id, name, country, language, locale_key, declared)
     on conflict (workspace_id, locale_id) do update set name = excluded.name,
       country = excluded.country, language = excluded.language,
       locale_key = excluded.locale_key, declared = excluded.declared`,
    [
      workspaceId,
      ...listsOf(locales, "id", "name", "country", "language", "localeKey", "declared"),
    ],
  );
}

export const deleteLocales = (tx: Transaction, workspaceId: number, ids: readonly string[]) =>
  tx.execute("delete from locales where workspace_id = $1 and locale_id = any($2::uuid[])", [
    workspaceId,
    ids,
  ]);
