import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type { CenterState, DeclaredCenter, PreferenceCenter } from "./center.ts";

const CONTENT_COLUMNS = `center_id as id, name, title, state, page_html as "pageHtml",
  confirmation_html as "confirmationHtml", redirect_url as "redirectUrl", options, locale,
  translations`;

const ALL_COLUMNS = `${CONTENT_COLUMNS}, declared, created_at as "createdAt",
  updated_at as "updatedAt"`;

export type CenterSummary = Pick<
  PreferenceCenter,
  "id" | "name" | "title" | "state" | "declared" | "createdAt" | "updatedAt"
>;

/** The preference centers of a workspace without their pages, by name. */
export const selectCenters = (database: Queryable, workspaceId: number) =>
  database.query<CenterSummary>(
    `select center_id as id, name, title, state, declared, created_at as "createdAt",
       updated_at as "updatedAt"
     from preference_centers where workspace_id = $1 order by name`,
    [workspaceId],
  );

export async function countCenters(database: Queryable, workspaceId: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    "select count(*)::int as count from preference_centers where workspace_id = $1",
    [workspaceId],
  );
  return row?.count ?? 0;
}

export async function selectCenter(database: Queryable, workspaceId: number, id: string) {
  const rows = await database.query<PreferenceCenter & { readonly revision: string }>(
    `select ${ALL_COLUMNS}, revision from preference_centers
     where workspace_id = $1 and center_id = $2`,
    [workspaceId, id],
  );
  return rows[0];
}

/** Locks a center until the transaction ends, and reads it. On Citus only an update locks a row. */
export async function lockCenter(
  tx: Transaction,
  workspaceId: number,
  id: string,
  revision: string,
) {
  const rows = await tx.query<PreferenceCenter>(
    `update preference_centers set revision = $3
     where workspace_id = $1 and center_id = $2 returning ${ALL_COLUMNS}`,
    [workspaceId, id, revision],
  );
  return rows[0];
}

/** The data of a center that every page view needs; the pages themselves are cached. */
export interface CenterHead {
  readonly id: string;
  readonly state: CenterState;
  readonly revision: string;
}

export const selectHeads = (database: Queryable, workspaceId: number, ids: readonly string[]) =>
  database.query<CenterHead>(
    `select center_id as id, state, revision from preference_centers
     where workspace_id = $1 and center_id = any($2::text[])`,
    [workspaceId, ids],
  );

export const selectDeclaredCenters = (tx: Transaction, workspaceId: number) =>
  tx.query<DeclaredCenter>(
    `select ${CONTENT_COLUMNS} from preference_centers where workspace_id = $1 and declared`,
    [workspaceId],
  );

/** All centers of a workspace with their pages, by name. */
export const selectWholeCenters = (database: Queryable, workspaceId: number) =>
  database.query<DeclaredCenter>(
    `select ${CONTENT_COLUMNS} from preference_centers where workspace_id = $1 order by name`,
    [workspaceId],
  );

export interface CenterRow extends DeclaredCenter {
  readonly declared: boolean;
  readonly revision: string;
}

/** Creates or changes centers. A declared one stays declared. A name in use is a duplicate. */
export async function upsertCenters(
  tx: Transaction,
  workspaceId: number,
  centers: readonly CenterRow[],
  now: Date,
): Promise<void> {
  if (centers.length === 0) return;
  await tx.query(
    `insert into preference_centers (workspace_id, center_id, name, title, state, page_html,
       confirmation_html, redirect_url, options, locale, translations, declared, revision,
       created_at, updated_at)
     select $1, id, name, title, state, page_html, confirmation_html, redirect_url,
       options::jsonb, locale, translations::jsonb, declared, revision, $14, $14
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[], $11::text[], $12::boolean[], $13::uuid[])
       as new (id, name, title, state, page_html, confirmation_html, redirect_url, options,
         locale, translations, declared, revision)
     on conflict (workspace_id, center_id) do update set name = excluded.name,
       title = excluded.title, state = excluded.state, page_html = excluded.page_html,
       confirmation_html = excluded.confirmation_html, redirect_url = excluded.redirect_url,
       options = excluded.options, locale = excluded.locale,
       translations = excluded.translations, revision = excluded.revision,
       declared = preference_centers.declared or excluded.declared,
       updated_at = excluded.updated_at`,
    [
      workspaceId,
      ...listsOf(
        centers,
        "id",
        "name",
        "title",
        "state",
        "pageHtml",
        "confirmationHtml",
        "redirectUrl",
      ),
      centers.map((center) => JSON.stringify(center.options)),
      centers.map((center) => center.locale),
      centers.map((center) => JSON.stringify(center.translations)),
      ...listsOf(centers, "declared", "revision"),
      now,
    ],
  );
}

/** Removes centers. @returns how many were there. */
export const deleteCenters = (tx: Transaction, workspaceId: number, ids: readonly string[]) =>
  tx.execute(
    "delete from preference_centers where workspace_id = $1 and center_id = any($2::text[])",
    [workspaceId, ids],
  );
