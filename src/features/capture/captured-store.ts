import type { Mentions } from "../../core/base/mentions.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";

export interface CapturedRow {
  /** Its number in the workspace, from 1. */
  readonly position: number;
  readonly capturedAt: Date;
  readonly method: string;
  readonly path: string;
  /** JSON. */
  readonly query: string;
  /** JSON; null if there was none. */
  readonly body: string | null;
  readonly status: number;
  /** JSON. */
  readonly response: string;
  readonly keyName: string | null;
  readonly requestId: string;
  /** Its size against the limit of its workspace. */
  readonly bytes: number;
}

export interface CaptureLimits {
  readonly calls: number;
  readonly bytes: number;
}

/** Numbers the next call of a workspace. Others of the workspace wait until the transaction ends. */
export async function advanceHead(
  tx: Transaction,
  workspaceId: number,
  bytes: number,
): Promise<{ readonly calls: number; readonly bytes: number }> {
  const [head] = await tx.query<{ calls: number; bytes: number }>(
    `insert into capture_heads (workspace_id, calls, bytes) values ($1, 1, $2)
     on conflict (workspace_id) do update
       set calls = capture_heads.calls + 1, bytes = capture_heads.bytes + excluded.bytes
     returning calls, bytes`,
    [workspaceId, bytes],
  );
  return head as { calls: number; bytes: number };
}

/**
 * Stores a call.
 *
 * @param bytesBefore the bytes of all earlier calls of the workspace.
 */
export const insertCall = (
  tx: Transaction,
  workspaceId: number,
  call: CapturedRow,
  bytesBefore: number,
) =>
  tx.execute(
    `insert into captured_calls (workspace_id, position, captured_at, method, path, query, body, status,
       response, key_name, request_id, bytes, bytes_before)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      workspaceId,
      call.position,
      call.capturedAt,
      call.method,
      call.path,
      call.query,
      call.body,
      call.status,
      call.response,
      call.keyName,
      call.requestId,
      call.bytes,
      bytesBefore,
    ],
  );

/** Deletes the oldest calls beyond the limits, as of the newest one. */
export const deleteBeyond = (
  tx: Transaction,
  workspaceId: number,
  head: { readonly calls: number; readonly bytes: number },
  limits: CaptureLimits,
) =>
  tx.execute(
    `delete from captured_calls
     where workspace_id = $1 and position <= greatest($2::bigint, (
       select coalesce(max(position), 0) from captured_calls
       where workspace_id = $1 and bytes_before < $3::bigint))`,
    [workspaceId, head.calls - limits.calls, head.bytes - limits.bytes],
  );

export interface CapturedFilter {
  /** This path, or those below it. */
  readonly path: string | undefined;
  /** Only calls with a smaller number. */
  readonly before: number | undefined;
}

/**
 * The newest calls that match, newest first: at most `limit`, and no more than fit into `mostBytes`, but one at
 * least.
 *
 * @returns with each how many there are up to `limit`, whether they fit or not.
 */
export const selectCalls = (
  database: Queryable,
  workspaceId: number,
  filter: CapturedFilter,
  limit: number,
  mostBytes: number,
) =>
  database.query<CapturedRow & { readonly found: number }>(
    `select position, captured_at as "capturedAt", method, path, query, body, status, response,
       key_name as "keyName", request_id as "requestId", bytes, found
     from (
       select *, count(*) over () as found,
         sum(bytes) over (order by position desc) - bytes as bytes_of_page
       from (
         select * from captured_calls
         where workspace_id = $1 and ($2::bigint is null or position < $2)
           and ($3::text is null or path = $3 or starts_with(path, $3 || '/'))
         order by position desc limit $4) as newest) as page
     where bytes_of_page = 0 or bytes_of_page + bytes <= $5
     order by position desc`,
    [workspaceId, filter.before ?? null, filter.path ?? null, limit, mostBytes],
  );

/** @returns how many there were. */
export const deleteAllCalls = (tx: Transaction, workspaceId: number): Promise<number> =>
  tx.execute("delete from captured_calls where workspace_id = $1", [workspaceId]);

/** @returns how many it deleted. */
export const deleteOldCalls = (
  tx: Transaction,
  workspaceId: number,
  before: Date,
  atMost: number,
): Promise<number> =>
  tx.execute(
    `delete from captured_calls where workspace_id = $1 and position in (
       select position from captured_calls where workspace_id = $1 and captured_at < $2
       order by position limit $3)`,
    [workspaceId, before, atMost],
  );

const CALLS_AT_ONCE = 100;

/** Deletes the calls that name an erased person, in steps. */
export async function deleteCallsNaming(
  tx: Transaction,
  workspaceId: number,
  { mentions, since }: { readonly mentions: Mentions; readonly since: Date },
  after = "0",
): Promise<string | undefined> {
  const page = await tx.query<{ position: number; isNaming: boolean }>(
    `select position, concat_ws(' ', path, query, body, response) ~* any($5::text[]) as "isNaming"
     from captured_calls
     where workspace_id = $1 and position > $2::bigint and captured_at >= $3
     order by position limit $4`,
    [workspaceId, after, since, CALLS_AT_ONCE, mentions.patterns],
  );
  const positions = page.filter(({ isNaming }) => isNaming).map(({ position }) => position);
  if (positions.length > 0) {
    await tx.query(
      "delete from captured_calls where workspace_id = $1 and position = any($2::bigint[])",
      [workspaceId, positions],
    );
  }
  return page.length === CALLS_AT_ONCE ? String(page.at(-1)?.position) : undefined;
}
