import type { Database } from "../database.ts";
import { compareMigrations, type SchemaState } from "./migrate.ts";

/** What `rapport doctor` wants to know of a database. */
export interface Examination {
  /** Such as `16.4`. */
  readonly version: string;
  readonly schema: SchemaState;
  /** How far the database's clock is ahead of this process's, in milliseconds; half a round trip off at most. */
  readonly clockAheadMs: number;
}

/** Looks at a database without changing it. */
export async function examine(database: Database): Promise<Examination> {
  const schema = await compareMigrations(database);
  const startedAt = Date.now();
  const [row] = await database.query<{ at: Date; version: string }>(
    "select clock_timestamp() as at, current_setting('server_version') as version",
  );
  const middle = (startedAt + Date.now()) / 2;
  const { at, version } = row as { at: Date; version: string };
  return {
    version: version.split(" ", 1)[0] ?? version,
    schema,
    clockAheadMs: at.getTime() - middle,
  };
}
