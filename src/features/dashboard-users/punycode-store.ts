import type { Queryable, Transaction } from "../../core/database/database.ts";

/** A user whose name has punycode, or whose key has. */
export interface PunycodeUser {
  readonly id: string;
  readonly companyId: string;
  readonly userName: string;
  readonly key: string;
}

/** Users whose key has punycode, in the order of their ids; pass the last id for the next page. */
export const selectPunycodeUsers = (
  database: Queryable,
  after: string | undefined,
  limit: number,
) =>
  database.query<PunycodeUser>(
    `select user_id as id, company_id as "companyId", attributes ->> 'userName' as "userName",
       user_name_key as key
     from dashboard_users
     where user_name_key like '%xn--%' and ($1::uuid is null or user_id > $1)
     order by user_id limit $2`,
    [after ?? null, limit],
  );

/** Which of these keys a user of the company has. */
export async function selectPresentKeys(
  database: Queryable,
  companyId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ key: string }>(
    `select user_name_key as key from dashboard_users
     where company_id = $1 and user_name_key = any($2::text[])`,
    [companyId, keys],
  );
  return new Set(rows.map(({ key }) => key));
}

export async function updateKeys(
  tx: Transaction,
  users: readonly { readonly id: string; readonly form: string }[],
): Promise<void> {
  if (users.length === 0) return;
  await tx.query(
    `update dashboard_users u set user_name_key = new.key,
       searchable = jsonb_set(searchable, '{userName}', to_jsonb(new.key))
     from unnest($1::uuid[], $2::text[]) as new (id, key) where u.user_id = new.id`,
    [users.map(({ id }) => id), users.map(({ form }) => form)],
  );
}
