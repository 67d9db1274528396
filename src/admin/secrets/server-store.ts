import type { Queryable } from "../../database/database.ts";

/** A server process on this database. */
export interface ServerRow {
  readonly id: string;
  /** Its machine and process. */
  readonly name: string;
  readonly version: string;
  /** The keys that can open its secrets. */
  readonly keyIds: readonly string[];
}

/** Processes that were not seen for longer have ended. */
const SEEN_WITHIN_SECONDS = 60;

/** Records that a process runs, and forgets those that ended long ago. */
export async function upsertServer(
  database: Queryable,
  { id, name, version, keyIds }: ServerRow,
): Promise<void> {
  await database.execute(
    `insert into running_servers (server_id, name, version, key_ids) values ($1, $2, $3, $4::text::jsonb)
     on conflict (server_id) do update set seen_at = now()`,
    [id, name, version, JSON.stringify(keyIds)],
  );
  await database.execute("delete from running_servers where seen_at < now() - interval '1 day'");
}

export async function deleteServer(database: Queryable, id: string): Promise<void> {
  await database.execute("delete from running_servers where server_id = $1", [id]);
}

/** Those that run, by name. */
export const selectServers = (database: Queryable): Promise<ServerRow[]> =>
  database.query<ServerRow>(
    `select server_id as id, name, version, key_ids as "keyIds" from running_servers
     where seen_at > now() - make_interval(secs => $1) order by name`,
    [SEEN_WITHIN_SECONDS],
  );
