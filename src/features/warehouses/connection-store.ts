import type { Queryable } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";

/** A connection as stored: its secrets are sealed. */
export interface StoredConnection {
  readonly name: string;
  readonly type: string;
  readonly workspaces: readonly string[];
  /** Settings that are no secrets. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The secret settings as JSON, sealed; null if the kind has none. */
  readonly sealed: string | null;
  /** Whether a manifest declared it. */
  readonly declared: boolean;
}

const COLUMNS = `name, type, to_jsonb(workspaces) as workspaces, settings, sealed, declared`;

export const selectConnections = (database: Queryable, companyId: string) =>
  database.query<StoredConnection>(
    `select ${COLUMNS} from connections where company_id = $1 order by name`,
    [companyId],
  );

export const selectConnectionsOf = (database: Queryable, workspaceId: number) =>
  database.query<StoredConnection & { readonly companyId: string }>(
    `select ${COLUMNS}, company_id as "companyId" from connections
     where company_id = (select company_id from workspaces where workspace_id = $1)
       and (select name from workspaces where workspace_id = $1) = any(workspaces)
     order by name`,
    [workspaceId],
  );

export async function upsertConnections(
  tx: Queryable,
  companyId: string,
  connections: readonly StoredConnection[],
): Promise<void> {
  if (connections.length === 0) return;
  await tx.query(
    `insert into connections (company_id, name, type, workspaces, settings, sealed, declared)
     select $1, name, type, array(select jsonb_array_elements_text(workspaces::jsonb)),
       settings::jsonb, sealed, declared
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])
       as new (name, type, workspaces, settings, sealed, declared)
     on conflict (company_id, name) do update set type = excluded.type,
       workspaces = excluded.workspaces, settings = excluded.settings, sealed = excluded.sealed,
       declared = excluded.declared`,
    [
      companyId,
      ...listsOf(connections, "name", "type"),
      connections.map((each) => JSON.stringify(each.workspaces)),
      connections.map((each) => JSON.stringify(each.settings)),
      ...listsOf(connections, "sealed", "declared"),
    ],
  );
}

export async function deleteConnections(
  tx: Queryable,
  companyId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx.query("delete from connections where company_id = $1 and name = any($2::text[])", [
    companyId,
    names,
  ]);
}

/** No connection lists the workspace any more. */
export const withdrawConnections = async (
  tx: Queryable,
  { name }: { readonly name: string },
): Promise<void> => {
  await tx.query(
    "update connections set workspaces = array_remove(workspaces, $1) where $1 = any(workspaces)",
    [name],
  );
};

interface SealedRow {
  readonly companyId: string;
  readonly name: string;
  readonly sealed: string;
}

export const selectSealedConnections = (database: Queryable) =>
  database.query<SealedRow>(
    `select company_id as "companyId", name, sealed from connections where sealed is not null
     order by company_id, name`,
  );

export async function updateSealedConnections(
  tx: Queryable,
  rows: readonly SealedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `update connections set sealed = new.sealed
     from unnest($1::uuid[], $2::text[], $3::text[]) as new (company_id, name, sealed)
     where connections.company_id = new.company_id and connections.name = new.name`,
    listsOf(rows, "companyId", "name", "sealed"),
  );
}
