import type { GivenNote } from "../../core/base/verdicts.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import type { KeptRequest } from "./request-log.ts";

/* The requests that server processes have written down. */

export interface StoredRequest extends KeptRequest {
  readonly logId: string;
  readonly server: string;
}

/** Writers wait until an erasure has removed what it found, and the other way round. */
export const lockForWriting = (tx: Transaction) =>
  tx.query("lock table live_requests in row exclusive mode");

/**
 * Excludes writers of requests until the transaction ends, so that no request arrives during an
 * erasure.
 */
export const lockForErasing = (tx: Transaction) =>
  tx.query("lock table live_requests in share row exclusive mode");

/** When requests were last erased, by workspace; of erasures that some process may not have heard of yet. */
export async function selectErasures(database: Queryable): Promise<Map<number, Date>> {
  const rows = await database.query<{ workspaceId: number; erasedAt: Date }>(
    `select workspace_id as "workspaceId", erased_at as "erasedAt" from live_request_erasures
     where erased_at > clock_timestamp() - interval '1 day'`,
  );
  return new Map(rows.map(({ workspaceId, erasedAt }) => [workspaceId, erasedAt]));
}

/** Records the time of an erasure, so that other servers forget their older requests. */
export const upsertErasure = (tx: Transaction, workspaceId: number) =>
  tx.execute(
    `insert into live_request_erasures (workspace_id, erased_at) values ($1, clock_timestamp())
     on conflict (workspace_id) do update set erased_at = excluded.erased_at`,
    [workspaceId],
  );

export async function insertRequests(
  tx: Transaction,
  { logId, server }: Pick<StoredRequest, "logId" | "server">,
  requests: readonly (KeptRequest & { readonly bytes: number })[],
): Promise<void> {
  const each = <Value>(value: (request: (typeof requests)[number]) => Value) => requests.map(value);
  await tx.query(
    `insert into live_requests (request_id, workspace_id, log_id, server, answered_at, key_id, key_name, method, path,
       route, status, duration_ms, body, response, notes, rejected, bytes)
     select request_id::uuid, workspace_id, $1::text::uuid, $2, answered_at::timestamptz, key_id, key_name, method, path,
       route, status, duration_ms, decode(body, 'base64'), response, notes, rejected, bytes
     from unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
       $11::int[], $12::float8[], $13::text[], $14::text[], $15::text[], $16::int[], $17::int[])
       as r (request_id, workspace_id, answered_at, key_id, key_name, method, path, route, status, duration_ms, body,
         response, notes, rejected, bytes)
     on conflict (request_id) do nothing`,
    [
      logId,
      server,
      each(({ id }) => id),
      each(({ workspace }) => workspace.id),
      each(({ at }) => at.toISOString()),
      each(({ key }) => key.id),
      each(({ key }) => key.name),
      each(({ method }) => method),
      each(({ path }) => path),
      each(({ route }) => route),
      each(({ status }) => status),
      each(({ durationMs }) => durationMs),
      each(({ body }) => body?.toString("base64") ?? null),
      each(({ response }) => response ?? null),
      each(({ notes }) => JSON.stringify(notes)),
      each(({ rejected }) => rejected),
      each(({ bytes }) => bytes),
    ],
  );
}

/** Deletes all but the latest, by their number and their bytes. */
export const trimRequests = (tx: Transaction, most: number, bytes: number) =>
  tx.execute(
    `delete from live_requests where request_id <= (
       select request_id from (
         select request_id, row_number() over latest as place, sum(bytes) over latest as total
         from live_requests window latest as (order by request_id desc)
       ) as r where place > $1 or total > $2 order by request_id desc limit 1)`,
    [most, bytes],
  );

export async function deleteOldRequests(database: Queryable, before: Date): Promise<void> {
  await database.query("delete from live_requests where answered_at < $1", [before]);
  await database.query("delete from live_request_erasures where erased_at < $1", [before]);
}

const COLUMNS = `request_id as id, workspace_id as "workspaceId", log_id as "logId", server, answered_at as at,
  key_id as "keyId", key_name as "keyName", method, path, route, status, duration_ms as "durationMs",
  encode(body, 'base64') as body, response, notes, rejected`;

interface Row
  extends Pick<
    StoredRequest,
    | "id"
    | "logId"
    | "server"
    | "at"
    | "method"
    | "path"
    | "route"
    | "status"
    | "durationMs"
    | "rejected"
  > {
  readonly workspaceId: number;
  readonly keyId: string;
  readonly keyName: string;
  readonly body: string | null;
  readonly response: string | null;
  readonly notes: string;
}

const requestOf = ({
  workspaceId,
  keyId,
  keyName,
  body,
  response,
  notes,
  ...row
}: Row): StoredRequest => ({
  ...row,
  workspace: { id: workspaceId },
  key: { id: keyId, name: keyName },
  body: body === null ? undefined : Buffer.from(body, "base64"),
  response: response ?? undefined,
  notes: JSON.parse(notes) as GivenNote[],
});

export interface StoredQuestion {
  readonly workspaceId: number;
  readonly id?: string | undefined;
  readonly before?: string | undefined;
  readonly key?: string | undefined;
  /** From and to. */
  readonly statuses: readonly [number, number];
}

/** For one workspace, newest first. */
export async function selectRequests(
  database: Queryable,
  { workspaceId, id, before, key, statuses: [from, to] }: StoredQuestion,
  limit: number,
): Promise<StoredRequest[]> {
  const rows = await database.query<Row>(
    `select ${COLUMNS} from live_requests
     where workspace_id = $1 and status between $2 and $3
       and ($4::text is null or request_id = $4::text::uuid)
       and ($5::text is null or request_id < $5::text::uuid)
       and ($6::text is null or key_id = $6 or key_name = $6)
     order by request_id desc limit $7`,
    [workspaceId, from, to, id ?? null, before ?? null, key ?? null, limit],
  );
  return rows.map(requestOf);
}

/** For one workspace, oldest first: those after the last seen one of each log, or after `since`. */
export async function selectNewRequests(
  database: Queryable,
  workspaceId: number,
  {
    seen,
    since,
    without,
  }: {
    readonly seen: Readonly<Record<string, string>>;
    readonly since: string;
    /** The log whose requests are left out. */
    readonly without: string;
  },
  limit: number,
): Promise<StoredRequest[]> {
  const rows = await database.query<Row>(
    `select ${COLUMNS} from live_requests
     where workspace_id = $1 and log_id <> $2::text::uuid
       and request_id > coalesce(($3::text::jsonb ->> log_id::text)::uuid, $4::text::uuid)
     order by request_id limit $5`,
    [workspaceId, without, JSON.stringify(seen), since, limit],
  );
  return rows.map(requestOf);
}

/** In the order of their ids. */
export async function selectTexts(
  tx: Transaction,
  workspaceId: number,
  after: string | undefined,
  limit: number,
): Promise<StoredRequest[]> {
  const rows = await tx.query<Row>(
    `select ${COLUMNS} from live_requests
     where workspace_id = $1 and ($2::text is null or request_id > $2::text::uuid)
     order by request_id limit $3`,
    [workspaceId, after ?? null, limit],
  );
  return rows.map(requestOf);
}

export const deleteRequests = (tx: Transaction, ids: readonly string[]) =>
  tx.execute("delete from live_requests where request_id = any($1::text[]::uuid[])", [ids]);

export async function deleteAllRequests(tx: Transaction, workspaceId: number): Promise<void> {
  await lockForErasing(tx);
  await upsertErasure(tx, workspaceId);
  await tx.query("delete from live_requests where workspace_id = $1", [workspaceId]);
}
