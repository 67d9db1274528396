import type { Mentions } from "../../core/base/mentions.ts";
import type { Transaction } from "../../core/database/database.ts";

/* The logged details about rows that name an erased person: removed in steps; counts and codes stay. */

interface Traced {
  readonly mentions: Mentions;
  readonly since: Date;
}

interface Found {
  readonly id: string;
  readonly at: Date;
  readonly isNaming: boolean;
}

const ROWS_AT_ONCE = 500;

const LOWEST_ID = "00000000-0000-0000-0000-000000000000";

/** @param after where the last step ended: a time and an id. */
const placeOf = (after = `${new Date(0).toISOString()} ${LOWEST_ID}`): string[] => after.split(" ");

function nextOf(page: readonly Found[]): string | undefined {
  const last = page.at(-1);
  return last && page.length === ROWS_AT_ONCE ? `${last.at.toISOString()} ${last.id}` : undefined;
}

const naming = (page: readonly Found[]): string[] =>
  page.filter(({ isNaming }) => isNaming).map(({ id }) => id);

/** The log of rows that were not simply applied. */
export async function eraseLogEntries(
  tx: Transaction,
  workspaceId: number,
  { mentions, since }: Traced,
  after?: string,
): Promise<string | undefined> {
  const page = await tx.query<Found>(
    `select entry_id as id, logged_at as at,
       concat_ws(' ', identity::text, message) ~* any($6::text[]) as "isNaming"
     from row_log
     where workspace_id = $1 and logged_at >= $4
       and (logged_at, entry_id) > ($2::timestamptz, $3::uuid)
     order by logged_at, entry_id limit $5`,
    [workspaceId, ...placeOf(after), since, ROWS_AT_ONCE, mentions.patterns],
  );
  const ids = naming(page);
  if (ids.length > 0) {
    await tx.query(
      `update row_log set identity = '{}'::jsonb, message = 'The user of this row was erased.'
       where workspace_id = $1 and entry_id = any($2::uuid[])
         and logged_at between $3::timestamptz and $4::timestamptz`,
      [workspaceId, ids, page[0]?.at, page.at(-1)?.at],
    );
  }
  return nextOf(page);
}

/** The messages of runs: a source's error may quote a value. */
export async function eraseRunMessages(
  tx: Transaction,
  workspaceId: number,
  { mentions }: Traced,
  after?: string,
): Promise<string | undefined> {
  const page = await tx.query<Found>(
    `select run_id as id, started_at as at, message ~* any($5::text[]) as "isNaming" from sync_runs
     where workspace_id = $1 and message is not null
       and (started_at, run_id) > ($2::timestamptz, $3::uuid)
     order by started_at, run_id limit $4`,
    [workspaceId, ...placeOf(after), ROWS_AT_ONCE, mentions.patterns],
  );
  const ids = naming(page);
  if (ids.length > 0) {
    await tx.query(
      `update sync_runs set message = 'This message named a user who was erased.'
       where workspace_id = $1 and run_id = any($2::uuid[])
         and started_at between $3::timestamptz and $4::timestamptz`,
      [workspaceId, ids, page[0]?.at, page.at(-1)?.at],
    );
  }
  return nextOf(page);
}
