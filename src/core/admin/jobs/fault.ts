import { Problem } from "../../base/problem.ts";
import { type Database, isUnavailable, stateOf, wasRunning } from "../../database/database.ts";

/*
 * Whose fault it is that a job failed: its own, or an outage that ends by itself.
 */

/** SQLSTATEs that an outage has too: a statement that took too long, or too much memory. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  "57014": "Its statement took too long.",
  "53200": "Its statement needed more memory than the database has.",
};

/**
 * The fault of a job, as a sentence that names no person, so that equal faults can be counted and the
 * owner may read it.
 *
 * @returns undefined for an outage of the database: the job is not at fault.
 */
export async function faultOf(database: Database, error: unknown): Promise<string | undefined> {
  if (wasRunning(error)) return "The database failed while it ran the job's statement.";
  const state = stateOf(error);
  const ambiguous = AMBIGUOUS[state];
  if (ambiguous) return (await responds(database)) ? ambiguous : undefined;
  if (isUnavailable(error)) return undefined;
  if (error instanceof Problem) return error.message;
  const { name = "Error" } = (error ?? {}) as { name?: string };
  const what = /^[0-9A-Z]{5}$/.test(state) ? `SQLSTATE ${state}` : name;
  return `Rapport failed (${what}): its log says why.`;
}

const responds = (database: Database): Promise<boolean> =>
  database.query("select 1").then(
    () => true,
    () => false,
  );
