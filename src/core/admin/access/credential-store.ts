import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { StoredSecret } from "./secret-store.ts";

/* API keys and SCIM tokens: two tables of one form, with different owners and grants. */

/** The table of one kind. */
export interface CredentialTable<Grant> {
  readonly name: "api_keys" | "scim_tokens";
  readonly id: "key_id" | "token_id";
  readonly owner: "workspace_id" | "company_id";
  /** The column of each member of a grant, as SQL reads it and takes it from the JSON `new.granted`. */
  readonly grant: { readonly [Member in keyof Grant]: Column };
}

/** The data that recording the last use needs. */
export type SeenTable = Pick<CredentialTable<unknown>, "name" | "id">;

/** The workspace or the company that a credential belongs to. */
export type OwnerId = number | string;

interface Column {
  readonly column: string;
  readonly read: string;
  readonly write: string;
}

/** A member that is a list of texts. */
export const textArray = (column: string, member: string): Column => ({
  column,
  read: `to_jsonb(${column})`,
  write: `array(select jsonb_array_elements_text(new.granted::jsonb->'${member}'))`,
});

const grantOf = <Grant>(table: CredentialTable<Grant>): [member: string, column: Column][] =>
  Object.entries<Column>(table.grant);

const readGrant = <Grant>(table: CredentialTable<Grant>): string =>
  grantOf(table)
    .map(([member, { read }]) => `${read} as "${member}"`)
    .join(", ");

const setGrant = <Grant>(table: CredentialTable<Grant>): string =>
  grantOf(table)
    .map(([, { column, write }]) => `${column} = ${write}`)
    .join(", ");

const columnsOf = <Grant>(table: CredentialTable<Grant>): string =>
  `${table.id} as id, name, ${readGrant(table)}, declared, created_at as "createdAt",
   last_seen_at as "lastSeenAt", revoked_at as "revokedAt"`;

/** A credential as a manifest declares it, with hashes in place of its secrets. */
export type DeclaredCredential<Grant> = Grant & {
  readonly name: string;
  readonly secrets: readonly StoredSecret[];
};

export type WithId<Row> = Row & { readonly id: string };

/** The credentials of an owner, as manifests last declared them. */
export const selectDeclared = <Grant>(
  database: Queryable,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
) =>
  database.query<WithId<DeclaredCredential<Grant>>>(
    `select ${table.id} as id, name, ${readGrant(table)}, declared_secrets as secrets
     from ${table.name} where ${table.owner} = $1 and declared`,
    [ownerId],
  );

export type CredentialRow<Grant> = Grant & {
  readonly id: string;
  readonly name: string;
  /** Whether a manifest declared it. */
  readonly declared: boolean;
  readonly createdAt: Date;
  readonly lastSeenAt: Date | null;
  readonly revokedAt: Date | null;
};

/** All of an owner by name, including revoked ones. */
export const selectCredentials = <Grant>(
  database: Queryable,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
) =>
  database.query<CredentialRow<Grant>>(
    `select ${columnsOf(table)} from ${table.name} where ${table.owner} = $1 order by name`,
    [ownerId],
  );

/** How many an owner has, including revoked ones. */
export async function countCredentials<Grant>(
  database: Queryable,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from ${table.name} where ${table.owner} = $1`,
    [ownerId],
  );
  return row?.count ?? 0;
}

/** A new credential: with `secrets` if a manifest declares it, otherwise null. */
export interface NewRow<Grant> {
  readonly id: string;
  readonly name: string;
  readonly grant: Grant;
  readonly secrets: readonly StoredSecret[] | null;
}

/** @returns the ids of those created: a missing one has a name that is in use. */
export async function insertCredentials<Grant>(
  tx: Transaction,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
  rows: readonly NewRow<Grant>[],
  now: Date,
): Promise<string[]> {
  const grant = grantOf(table).map(([, column]) => column);
  const made = await tx.query<{ id: string }>(
    `insert into ${table.name} (${table.id}, ${table.owner}, name,
       ${grant.map(({ column }) => column).join(", ")}, declared, declared_secrets, created_at)
     select new.id, $1, new.name, ${grant.map(({ write }) => write).join(", ")},
       new.secrets is not null, new.secrets::jsonb, $6
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[])
       as new (id, name, granted, secrets)
     on conflict do nothing
     returning ${table.id} as id`,
    [
      ownerId,
      ...listsOf(rows, "id", "name"),
      rows.map((row) => JSON.stringify(row.grant)),
      rows.map((row) => row.secrets && JSON.stringify(row.secrets)),
      now,
    ],
  );
  return made.map((row) => row.id);
}

/** Updates them from a manifest; reopening ends a revocation. */
export const updateDeclared = <Grant>(
  tx: Transaction,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
  rows: readonly {
    readonly id: string;
    readonly grant: Grant;
    readonly secrets: readonly StoredSecret[];
    readonly isReopened: boolean;
  }[],
) =>
  tx.execute(
    `update ${table.name} set ${setGrant(table)}, declared_secrets = new.secrets::jsonb,
       revoked_at = case when new.reopened then null else revoked_at end
     from unnest($2::uuid[], $3::text[], $4::text[], $5::boolean[])
       as new (id, granted, secrets, reopened)
     where ${table.owner} = $1 and ${table.id} = new.id`,
    [
      ownerId,
      rows.map((row) => row.id),
      rows.map((row) => JSON.stringify(row.grant)),
      rows.map((row) => JSON.stringify(row.secrets)),
      rows.map((row) => row.isReopened),
    ],
  );

export const updateGrant = <Grant>(
  tx: Transaction,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
  id: string,
  grant: Grant,
) =>
  tx.execute(
    `update ${table.name} set ${setGrant(table)} from (select $3::text as granted) new
     where ${table.owner} = $1 and ${table.id} = $2`,
    [ownerId, id, JSON.stringify(grant)],
  );

/** Finds one by its name and locks it, so that concurrent changes are serialized. */
export async function lockCredential<Grant>(
  tx: Transaction,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
  name: string,
) {
  const [row] = await tx.query<CredentialRow<Grant>>(
    `update ${table.name} set name = name where ${table.owner} = $1 and name = $2
     returning ${columnsOf(table)}`,
    [ownerId, name],
  );
  return row;
}

export const markRevoked = <Grant>(
  tx: Transaction,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
  id: string,
  now: Date,
) =>
  tx.execute(
    `update ${table.name} set revoked_at = $3 where ${table.owner} = $1 and ${table.id} = $2`,
    [ownerId, id, now],
  );

export const deleteCredentials = <Grant>(
  tx: Transaction,
  table: CredentialTable<Grant>,
  ownerId: OwnerId,
  ids: readonly string[],
) =>
  tx.execute(
    `delete from ${table.name} where ${table.owner} = $1 and ${table.id} = any($2::uuid[])`,
    [ownerId, ids],
  );

/** Records when they were last used, at most once in `perSeconds`. */
export const updateLastSeen = (
  database: Queryable,
  table: SeenTable,
  lastUsed: ReadonlyMap<string, Date>,
  perSeconds: number,
) =>
  database.execute(
    `update ${table.name} set last_seen_at = new.at
     from unnest($1::uuid[], $2::timestamptz[]) as new (id, at)
     where ${table.id} = new.id
       and (last_seen_at is null or last_seen_at <= new.at - make_interval(secs => $3::int))`,
    [[...lastUsed.keys()], [...lastUsed.values()], perSeconds],
  );
