import type { Database, Queryable } from "../database.ts";
import { compareMigrations, type SchemaState } from "./migrate.ts";

/** Facts about a database for `rapport doctor`. */
export interface Examination {
  /** Such as `16.4`. */
  readonly version: string;
  readonly schema: SchemaState;
  /** How far the database's clock is ahead of this process's, in milliseconds; half a round trip off at most. */
  readonly clockAheadMs: number;
}

/** @throws if the database accepts no writes, as on a standby, with what to do about it. */
export async function refuseReadOnly(database: Queryable): Promise<void> {
  const [row] = await database.query<{ readOnly: string; isStandby: boolean }>(
    `select current_setting('transaction_read_only') as "readOnly", pg_is_in_recovery() as "isStandby"`,
  );
  if (row?.readOnly !== "on") return;
  throw new Error(
    row.isStandby
      ? "The database is read-only, because it is a standby: name the primary in DATABASE_URL, or several hosts."
      : "The database is read-only: default_transaction_read_only is on for it, for the user or for the server.",
  );
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
