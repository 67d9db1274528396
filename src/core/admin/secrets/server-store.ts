import type { Queryable } from "../../database/database.ts";

export interface ServerRow {
  readonly id: string;
  /** Its machine and process. */
  readonly name: string;
  readonly version: string;
  readonly keyIds: readonly string[];
}

/** Processes that were not seen for longer have ended. */
const SEEN_WITHIN_SECONDS = 60;

/** A process that has not written for longer does not count as one that writes. */
const WROTE_WITHIN_SECONDS = 30;

/** Records that a process runs, and whether it has written users since its last record; forgets those that ended long ago. */
export async function upsertServer(
  database: Queryable,
  { id, name, version, keyIds }: ServerRow,
  hasWritten: boolean,
): Promise<void> {
  await database.execute(
    `insert into running_servers (server_id, name, version, key_ids, wrote_at)
     values ($1, $2, $3, $4::text::jsonb, case when $5 then now() end)
     on conflict (server_id) do update
       set seen_at = now(), wrote_at = coalesce(excluded.wrote_at, running_servers.wrote_at)`,
    [id, name, version, JSON.stringify(keyIds), hasWritten],
  );
  await database.execute("delete from running_servers where seen_at < now() - interval '1 day'");
}

export async function countOtherWriters(database: Queryable, id: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from running_servers
     where wrote_at > now() - make_interval(secs => $1) and server_id <> $2`,
    [WROTE_WITHIN_SECONDS, id],
  );
  return row?.count ?? 0;
}

export const deleteServer = (database: Queryable, id: string) =>
  database.execute("delete from running_servers where server_id = $1", [id]);

/** Those that run, by name, and how many seconds ago each was seen. */
export const selectServers = (database: Queryable) =>
  database.query<ServerRow & { readonly seenSeconds: number }>(
    `select server_id as id, name, version, key_ids as "keyIds",
       extract(epoch from now() - seen_at)::int as "seenSeconds" from running_servers
     where seen_at > now() - make_interval(secs => $1) order by name`,
    [SEEN_WITHIN_SECONDS],
  );
