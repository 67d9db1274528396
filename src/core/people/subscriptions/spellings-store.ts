import type { EmailState } from "../../base/values/email-states.ts";
import { bucketsOfValues } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import { type AddressRow, hasForm, NO_ID } from "../profiles/spellings-store.ts";

/* Rows by address, for the migration that gives every address its form. */

/** The tables whose rows belong to an address; the history has several rows for each. */
export type AddressTable = "email_states" | "hard_bounces" | "email_state_changes";

const idIn = (table: AddressTable): string =>
  table === "email_state_changes" ? "change_id" : `'${NO_ID}'::uuid`;

/** A page of rows, those after a row. */
export const selectSpelledRows = (
  database: Queryable,
  table: AddressTable,
  { address, workspaceId, id }: AddressRow,
  limit: number,
) =>
  database.query<AddressRow>(
    `select email as address, workspace_id as "workspaceId", ${idIn(table)} as id from ${table}
     where ${hasForm("email")} and (email, workspace_id, ${idIn(table)}) > ($1, $2, $3::uuid)
     order by email, workspace_id${table === "email_state_changes" ? ", change_id" : ""} limit $4`,
    [address, workspaceId, id, limit],
  );

export async function selectPresent(
  database: Queryable,
  table: "identifiers" | AddressTable,
  workspaceId: number,
  addresses: readonly string[],
): Promise<string[]> {
  const [column, kind] = table === "identifiers" ? ["value", " and kind = 'email'"] : ["email", ""];
  const rows = await database.query<{ address: string }>(
    `select distinct ${column} as address from ${table}
     where workspace_id = $1 and ${column} = any($2::text[]) and bucket = any($3::smallint[])${kind}`,
    [workspaceId, addresses, bucketsOfValues(workspaceId, addresses).all],
  );
  return rows.map(({ address }) => address);
}

/** A stored state of an address. Its time is a text, with its microseconds. */
export interface StoredState {
  readonly email: string;
  readonly spelling: string | null;
  readonly state: EmailState;
  readonly setAt: string;
  readonly previous: EmailState | null;
}

export const selectStoredStates = (tx: Queryable, workspaceId: number, emails: readonly string[]) =>
  tx.query<StoredState>(
    `select email, state, to_char(set_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ') as "setAt", previous,
       spelling
     from email_states
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all],
  );

/** Stores states; each replaces the state of its address. */
export async function replaceStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly StoredState[],
): Promise<void> {
  const emails = states.map(({ email }) => email);
  const buckets = bucketsOfValues(workspaceId, emails);
  await tx.query(
    `insert into email_states (workspace_id, bucket, email, state, set_at, previous, spelling)
     select $1, bucket, email, state, set_at, previous, spelling
     from buckets join unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::smallint[])
       as new (email, state, set_at, previous, spelling, bucket) using (bucket)
     where bucket = any($8::smallint[])
     on conflict (workspace_id, email, bucket) do update
       set state = excluded.state, set_at = excluded.set_at, previous = excluded.previous,
         spelling = excluded.spelling`,
    [
      workspaceId,
      emails,
      ...listsOf(states, "state", "setAt", "previous", "spelling"),
      buckets.each,
      buckets.all,
    ],
  );
}

/** Moves bounces to another address; of two that bounced it keeps the first time. */
export async function moveBounces(
  tx: Transaction,
  workspaceId: number,
  moves: readonly { readonly address: string; readonly form: string }[],
): Promise<void> {
  const formOf = new Map(moves.map(({ address, form }) => [address, form]));
  const rows = await tx.query<{ email: string; at: Date }>(
    `delete from hard_bounces
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])
     returning email, bounced_at as at`,
    [workspaceId, [...formOf.keys()], bucketsOfValues(workspaceId, [...formOf.keys()]).all],
  );
  // The first of each address, because a statement writes a row once.
  const first = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const form = formOf.get(row.email) as string;
    const other = first.get(form);
    if (!other || row.at < other.at) first.set(form, row);
  }
  const forms = [...first.keys()];
  const buckets = bucketsOfValues(workspaceId, forms);
  await tx.query(
    `insert into hard_bounces (workspace_id, bucket, email, bounced_at, spelling)
     select $1, bucket, email, bounced_at, spelling
     from buckets join unnest($2::text[], $3::timestamptz[], $4::text[], $5::smallint[])
       as new (email, bounced_at, spelling, bucket) using (bucket)
     where bucket = any($6::smallint[])
     on conflict (workspace_id, email, bucket) do update
       set bounced_at = excluded.bounced_at, spelling = excluded.spelling
       where excluded.bounced_at < hard_bounces.bounced_at`,
    [
      workspaceId,
      forms,
      [...first.values()].map(({ at }) => at),
      [...first.values()].map(({ email }) => email),
      buckets.each,
      buckets.all,
    ],
  );
}

/** A spelling that another spelling's address has become; of one with an email state, the states before and since. */
export interface JoinedSpelling {
  readonly email: string;
  readonly spelling: string;
  readonly state?: EmailState | null;
  readonly otherState?: EmailState | null;
  readonly keptState?: EmailState | null;
}

/** Records joined spellings; their states once. */
export async function insertJoined(
  tx: Transaction,
  workspaceId: number,
  joined: readonly JoinedSpelling[],
): Promise<void> {
  if (joined.length === 0) return;
  const emails = joined.map(({ email }) => email);
  const buckets = bucketsOfValues(workspaceId, emails);
  await tx.query(
    `insert into joined_spellings (workspace_id, bucket, email, spelling, state, other_state, kept_state)
     select $1, bucket, email, spelling, state, other_state, kept_state
     from buckets join unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[])
       as new (email, spelling, state, other_state, kept_state, bucket) using (bucket)
     where bucket = any($8::smallint[])
     on conflict (workspace_id, email, bucket, spelling) do update
       set state = coalesce(excluded.state, joined_spellings.state),
         other_state = coalesce(excluded.other_state, joined_spellings.other_state),
         kept_state = coalesce(excluded.kept_state, joined_spellings.kept_state)`,
    [
      workspaceId,
      emails,
      joined.map(({ spelling }) => spelling),
      joined.map(({ state = null }) => state),
      joined.map(({ otherState = null }) => otherState),
      joined.map(({ keptState = null }) => keptState),
      buckets.each,
      buckets.all,
    ],
  );
}

/** A page of joined spellings, those after a row. */
export const selectJoined = (
  database: Queryable,
  workspaceId: number,
  after: { readonly email: string; readonly spelling: string },
  limit: number,
) =>
  database.query<Required<JoinedSpelling>>(
    `select ${JOINED_COLUMNS}
     from joined_spellings where workspace_id = $1 and (email, spelling) > ($2, $3)
     order by email, spelling limit $4`,
    [workspaceId, after.email, after.spelling, limit],
  );

const JOINED_COLUMNS = `email, spelling, state, other_state as "otherState", kept_state as "keptState"`;

/** Removes what was recorded about addresses. @returns it. */
export async function deleteJoined(
  tx: Transaction,
  workspaceId: number,
  emails: readonly string[],
) {
  if (emails.length === 0) return [];
  return tx.query<JoinedSpelling>(
    `delete from joined_spellings
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])
     returning ${JOINED_COLUMNS}`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all],
  );
}

export const deleteAllJoined = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from joined_spellings where workspace_id = $1", [workspaceId]);
