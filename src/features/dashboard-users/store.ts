import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/base/clock.ts";
import { READY_ROLES } from "../../core/base/context/dashboard-permissions.ts";
import type { JsonObject } from "../../core/base/values/plain-json.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import {
  type Database,
  NOT_PREPARED,
  type Queryable,
  readTogether,
  type Transaction,
} from "../../core/database/database.ts";
import { userConditionSql } from "./condition-store.ts";
import {
  type Organisation,
  type PeopleQuery,
  type SearchableForm,
  type User,
  type UserAttributes,
  type UserCondition,
  type UserPage,
  type UserQuery,
  userNameKey,
  writtenKey,
} from "./dashboard-user.ts";

const USER_COLUMNS = `user_id as id, attributes, created_at as "createdAt",
  updated_at as "updatedAt", last_sign_in_at as "lastSignInAt", from_scim as "fromScim"`;

/** @returns undefined if another user has the userName. */
export async function insertUser(
  database: Queryable,
  companyId: string,
  clock: Clock,
  attributes: UserAttributes,
  searchable: SearchableForm,
  fromScim: boolean,
) {
  const now = clock.now();
  const id = clock.newId();
  const form = searchable(id, attributes, now, now);
  const rows = await database.query<User>(
    `insert into dashboard_users (company_id, user_id, user_name_key, external_id, attributes,
       searchable, created_at, updated_at, from_scim)
     select $1::uuid, $2::uuid, $3::text, $4::text, $5::text::json, $6::text::jsonb, $7::timestamptz,
       $7::timestamptz, $8::boolean
     where not exists (select from dashboard_users where user_name_key = $9 and company_id = $1)
     on conflict (user_name_key, company_id) do nothing
     returning ${USER_COLUMNS}`,
    [
      companyId,
      id,
      userNameKey(attributes.userName),
      ...documents(attributes, form),
      now,
      fromScim,
      writtenKey(attributes.userName),
    ],
  );
  return rows[0];
}

/** The columns that follow from the attributes: external_id, attributes, searchable. */
const documents = (attributes: UserAttributes, searchable: JsonObject) => [
  attributes.externalId ?? null,
  JSON.stringify(attributes),
  JSON.stringify(searchable),
];

export async function selectUser(database: Queryable, companyId: string, id: string) {
  if (!isUuid(id)) return undefined;
  const rows = await database.query<User>(
    `select ${USER_COLUMNS} from dashboard_users where company_id = $1 and user_id = $2`,
    [companyId, id],
  );
  return rows[0];
}

/** The user is locked while `work` runs. @returns undefined if there is no such user. */
export async function updateUser(
  tx: Transaction,
  companyId: string,
  id: string,
  now: Date,
  work: (user: User) => UserAttributes,
  searchable: SearchableForm,
  fromScim: boolean,
) {
  if (!isUuid(id)) return undefined;
  // The update locks the row: see docs/decisions/one-sql-on-three-engines.md.
  const [user] = await tx.query<User>(
    `update dashboard_users set updated_at = updated_at where company_id = $1 and user_id = $2
     returning ${USER_COLUMNS}`,
    [companyId, id],
  );
  if (!user) return undefined;
  const attributes = work(user);
  if (isDeepStrictEqual(attributes, user.attributes)) return user;
  const form = searchable(id, attributes, user.createdAt, now);
  await tx.query(
    `update dashboard_users set external_id = $3, attributes = $4::text::json,
       searchable = $5::text::jsonb, updated_at = $6, from_scim = from_scim or $7
     where company_id = $1 and user_id = $2`,
    [companyId, id, ...documents(attributes, form), now, fromScim],
  );
  return { ...user, attributes, updatedAt: now, fromScim: user.fromScim || fromScim };
}

/** @returns the earlier state of the user; undefined if there is no such user. */
export async function deleteUser(
  database: Queryable,
  companyId: string,
  id: string,
): Promise<UserAttributes | undefined> {
  if (!isUuid(id)) return undefined;
  const rows = await database.query<Pick<User, "attributes">>(
    "delete from dashboard_users where company_id = $1 and user_id = $2 returning attributes",
    [companyId, id],
  );
  return rows[0]?.attributes;
}

/**
 * Ids of users whose attributes contain one of these parts, in their order; pass the last one for the
 * next page.
 */
export const selectUsersWith = (
  database: Queryable,
  parts: readonly JsonObject[],
  after: string | undefined,
  limit: number,
) =>
  database.query<Pick<User, "id">>(
    `select user_id as id from dashboard_users
     where attributes::jsonb @> any($1::text[]::jsonb[]) and ($2::uuid is null or user_id > $2)
     order by user_id limit $3`,
    [parts.map((part) => JSON.stringify(part)), after ?? null, limit],
  );

/** Users as they are, locked until the transaction ends. */
export const lockUsers = (tx: Transaction, ids: readonly string[]) =>
  tx.query<User>(
    `update dashboard_users set updated_at = updated_at where user_id = any($1::uuid[])
     returning ${USER_COLUMNS}`,
    [ids],
  );

/** The new states of locked users; their last change stays attributed. */
export const updateAttributes = (
  tx: Transaction,
  users: readonly {
    readonly id: string;
    readonly attributes: UserAttributes;
    readonly searchable: JsonObject;
  }[],
  now: Date,
) =>
  tx.execute(
    `update dashboard_users u set attributes = new.attributes::json,
       searchable = new.searchable::jsonb, updated_at = $4
     from unnest($1::uuid[], $2::text[], $3::text[]) as new (id, attributes, searchable)
     where u.user_id = new.id`,
    [
      users.map(({ id }) => id),
      users.map(({ attributes }) => JSON.stringify(attributes)),
      users.map(({ searchable }) => JSON.stringify(searchable)),
      now,
    ],
  );

/**
 * By user name. The text is searched in user names and in names, whose searchable form is in lower
 * case.
 */
export const selectPeople = (
  database: Queryable,
  companyId: string,
  { text, after, limit }: PeopleQuery,
) =>
  database.query<User & { readonly key: string }>(
    `select ${USER_COLUMNS}, user_name_key as key from dashboard_users
     where company_id = $1 and ($2::text is null or user_name_key > $2)
       and ($3 = '' or strpos(user_name_key, $5) > 0
         or strpos(coalesce(searchable ->> 'displayName', ''), $3) > 0
         or strpos(concat_ws(' ', searchable #>> '{name,givenName}',
              searchable #>> '{name,familyName}'), $3) > 0)
     order by user_name_key limit $4`,
    [companyId, after ?? null, text.toLowerCase(), limit, userNameKey(text)],
  );

/** Whether an active user has the permission of the company that includes every other one. */
export async function selectHasAdministrator(
  database: Queryable,
  companyId: string,
): Promise<boolean> {
  const rows = await database.query(
    `select user_id from dashboard_users where company_id = $1
       and searchable @> '{"permissions": {"companyPermissions": ["admin"]}}'
       and not searchable @> '{"active": false}' limit 1`,
    [companyId],
  );
  return rows.length > 0;
}

/** Which of these keys of user names belong to active users. */
export async function selectActiveKeys(
  database: Queryable,
  companyId: string,
  keys: readonly string[],
): Promise<string[]> {
  const rows = await database.query<{ key: string }>(
    `select user_name_key as key from dashboard_users
     where company_id = $1 and user_name_key = any($2::text[])
       and not searchable @> '{"active": false}'`,
    [companyId, keys],
  );
  return rows.map(({ key }) => key);
}

export async function selectUserNames(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await database.query<{ id: string; name: string }>(
    `select user_id::text as id, attributes ->> 'userName' as name from dashboard_users
     where user_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Users of a page and their total, from one snapshot. */
export async function selectPage(
  database: Database,
  companyId: string,
  { condition, offset, limit, limitBytes }: UserQuery,
): Promise<UserPage> {
  return readTogether(database, async (tx) => {
    const { total, ids } = condition
      ? await selectMatchingIds(tx, companyId, condition, offset, limit)
      : await selectAllIds(tx, companyId, offset, limit);
    const users = await tx.query<User>(
      `select ${USER_COLUMNS} from (
         select *, sum(bytes) over (order by user_id) - bytes as bytes_before from (
           select *, octet_length(attributes::text) as bytes from dashboard_users
           where company_id = $1 and user_id = any($2::uuid[])) as measured) as page
       where bytes_before < $3 order by user_id`,
      [companyId, ids, limitBytes],
    );
    return { total, users };
  });
}

interface PageOfIds {
  readonly total: number;
  readonly ids: readonly string[];
}

/**
 * Of all users. The page is read from the nearer end, so the last one is as fast as the first: an
 * offset makes the engine walk over everything before it. Measured in docs/decisions/scim-filters-and-pages.md.
 */
async function selectAllIds(
  tx: Queryable,
  companyId: string,
  offset: number,
  limit: number,
): Promise<PageOfIds> {
  const [counted] = await tx.query<{ total: number }>(
    "select count(*) as total from dashboard_users where company_id = $1",
    [companyId],
  );
  const total = counted?.total ?? 0;
  const length = Math.max(0, Math.min(limit, total - offset));
  const after = total - offset - length;
  const [order, skipped] = after < offset ? ["desc", Math.max(0, after)] : ["asc", offset];
  const rows = await tx.query<{ id: string }>(
    `select user_id as id from dashboard_users where company_id = $1
     order by user_id ${order} offset $2 limit $3`,
    [companyId, skipped, length],
  );
  return { total, ids: rows.map((row) => row.id) };
}

/**
 * Evaluates the condition once for each user. Materialized, because otherwise the engine walks
 * along the order of the page instead of using the index that finds the one user.
 */
async function selectMatchingIds(
  tx: Queryable,
  companyId: string,
  condition: UserCondition,
  offset: number,
  limit: number,
): Promise<PageOfIds> {
  const parameters: unknown[] = [companyId, offset, limit];
  const where = userConditionSql(condition, parameters);
  const [row] = await tx.query<PageOfIds>(
    `${NOT_PREPARED}with found as materialized (
       select user_id from dashboard_users where company_id = $1 and ${where})
     select (select count(*) from found) as total,
       to_jsonb(array(select user_id from found order by user_id offset $2 limit $3)) as ids`,
    parameters,
  );
  return row ?? { total: 0, ids: [] };
}

interface WorkspaceRow {
  id: number;
  name: string;
  teams: { id: string; name: string }[] | null;
}

export async function selectOrganisation(
  database: Queryable,
  companyId: string,
): Promise<Organisation> {
  const [row] = await database.query<{
    workspaces: WorkspaceRow[] | null;
    sets: string[] | null;
  }>(
    `select
       (select jsonb_agg(jsonb_build_object('id', w.workspace_id, 'name', w.name, 'teams',
            (select jsonb_agg(jsonb_build_object('id', t.team_id, 'name', t.name))
             from teams t where t.workspace_id = w.workspace_id)))
          from workspaces w where w.company_id = $1) as workspaces,
       (select jsonb_agg(s.name) from permission_sets s where s.company_id = $1) as sets`,
    [companyId],
  );
  return {
    workspaces: new Map(
      (row?.workspaces ?? []).map(({ id, name, teams }) => [
        name,
        { id: String(id), teams: new Map(teams?.map((team) => [team.name, team.id])) },
      ]),
    ),
    permissionSets: new Set([...Object.keys(READY_ROLES), ...(row?.sets ?? [])]),
  };
}
