import type { Clock } from "../../base/clock.ts";
import type { Json } from "../../base/values/plain-json.ts";
import { type Database, type Queryable, type Transaction, withRetries } from "../database.ts";
import { MIGRATION_LOCK } from "./migrate.ts";

/** How far a step has come. */
export interface StepState {
  /** Where it continues; null at its beginning. */
  readonly position: Json;
  /** Counts of what it did so far; no data. */
  readonly report: Readonly<Record<string, number>>;
}

/**
 * The part of a migration that SQL cannot do. Its file adds a row to `migration_steps` (migrations/README.md); it runs
 * once the files are applied and before the server serves, in many transactions, and continues where a killed
 * process stopped.
 */
export interface MigrationStep {
  readonly name: string;
  /** Does a part of the work in a transaction. @returns the state after it, and whether there is more to do. */
  run(
    tx: Transaction,
    state: StepState,
    clock: Clock,
  ): Promise<StepState & { readonly hasMore: boolean }>;
}

/**
 * Finishes the steps of applied migrations, in their order.
 *
 * @param onFinished gets the name and the counts of each that this process finished.
 */
export async function finishMigrations(
  database: Database,
  steps: readonly MigrationStep[],
  clock: Clock,
  onFinished: (name: string, report: StepState["report"]) => void,
): Promise<void> {
  for (const step of steps) {
    let state = await runPart(database, step, clock);
    while (state?.hasMore) state = await runPart(database, step, clock);
    if (state) onFinished(step.name, state.report);
  }
}

/** @returns the state after the part; undefined if there was nothing to do. */
const runPart = (database: Database, step: MigrationStep, clock: Clock) =>
  withRetries(database.for("maintenance"), async (tx) => {
    // One process at a time; another one finds the state that this one leaves.
    await tx.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const [state] = await tx.query<StepState>(
      "select position, report from migration_steps where name = $1 and finished_at is null",
      [step.name],
    );
    if (!state) return undefined;
    const { position, report, hasMore } = await step.run(tx, state, clock);
    await tx.query(
      `update migration_steps set position = $2::text::jsonb, report = $3::text::jsonb, finished_at = $4
       where name = $1`,
      [step.name, JSON.stringify(position), JSON.stringify(report), hasMore ? null : clock.now()],
    );
    return { report, hasMore };
  });

/** A step of this or an earlier migration of the database. */
export interface StepRecord {
  readonly name: string;
  readonly report: StepState["report"];
  /** Null while it is unfinished: then no server has started since. */
  readonly finishedAt: Date | null;
}

/** The steps that the database has had, or has to do. */
export const readSteps = (database: Queryable) =>
  database.query<StepRecord>(
    `select name, report, finished_at as "finishedAt" from migration_steps order by name`,
  );
