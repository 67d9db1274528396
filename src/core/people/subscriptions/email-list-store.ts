import { bucketsOfValues } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";

/** An address as it was first written, in ASCII in lower case, and when it was refused or bounced. */
export interface EmailEntry {
  readonly email: string;
  readonly at: Date;
}

/** A part of a list of addresses: named ones, or all of a period, ordered by time. */
export interface EmailSelection {
  /** Their forms; by default all addresses of the period. */
  readonly emails: readonly string[] | undefined;
  /** The period includes its start and excludes its end. */
  readonly from: Date | undefined;
  readonly until: Date | undefined;
  readonly direction: "asc" | "desc";
  readonly limit: number;
  readonly offset: number;
}

/** A page of unsubscribed addresses with the time of each. */
export const selectUnsubscribes = (
  database: Queryable,
  workspaceId: number,
  selection: EmailSelection,
) =>
  database.query<EmailEntry>(
    `select coalesce(spelling, email) as email, set_at as at from email_states
     where workspace_id = $1 and state = 'unsubscribed' and ${within("email_states", "set_at", selection)}`,
    [workspaceId, ...valuesOf(workspaceId, selection)],
  );

/** A page of bounced addresses with the time of each. */
export const selectHardBounces = (
  database: Queryable,
  workspaceId: number,
  selection: EmailSelection,
) =>
  database.query<EmailEntry>(
    `select coalesce(spelling, email) as email, bounced_at as at from hard_bounces
     where workspace_id = $1 and ${within("hard_bounces", "bounced_at", selection)}`,
    [workspaceId, ...valuesOf(workspaceId, selection)],
  );

const within = (table: string, time: string, { emails, direction }: EmailSelection): string => {
  const condition = emails
    ? "email = any($2::text[]) and bucket = any($5::smallint[])"
    : `${time} >= $2::timestamptz and ${time} < $5::timestamptz`;
  return `${condition} order by ${time} ${direction}, ${table}.email ${direction} limit $3 offset $4`;
};

const valuesOf = (
  workspaceId: number,
  { emails, from, until, limit, offset }: EmailSelection,
): readonly unknown[] =>
  emails
    ? [emails, limit, offset, bucketsOfValues(workspaceId, emails).all]
    : [from, limit, offset, until];

/** Records that addresses bounced; an address that did before keeps its first time. */
export async function insertHardBounces(
  tx: Transaction,
  workspaceId: number,
  bounced: readonly { readonly email: string; readonly spelling: string | null }[],
  now: Date,
): Promise<void> {
  const rows = [...new Map(bounced.map((row) => [row.email, row])).values()];
  const addresses = rows.map(({ email }) => email);
  const buckets = bucketsOfValues(workspaceId, addresses);
  await tx.query(
    `insert into hard_bounces (workspace_id, bucket, email, spelling, bounced_at)
     select $1, bucket, email, spelling, $3
     from buckets join unnest($2::text[], $4::smallint[], $6::text[])
       as new (email, bucket, spelling) using (bucket)
     where bucket = any($5::smallint[])
     order by email collate "C"
     on conflict (workspace_id, email, bucket) do nothing`,
    [workspaceId, addresses, now, buckets.each, buckets.all, rows.map(({ spelling }) => spelling)],
  );
}

/** @returns the addresses that had bounced. */
export async function deleteHardBounces(
  tx: Queryable,
  workspaceId: number,
  emails: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ email: string }>(
    `delete from hard_bounces
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])
     returning email`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all],
  );
  return rows.map((row) => row.email);
}

export const deleteAllHardBounces = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from hard_bounces where workspace_id = $1", [workspaceId]);
