import { placeOf, placeOfId } from "./buckets.ts";
import type { Transaction } from "./database.ts";
import { LANE_LOCKS, laneLockAt } from "./lanes.ts";

/** Distinguishes these locks from Rapport's others. */
const PEOPLE_LOCK_CLASS = 7_270_414;

/** Distinguishes the locks of lanes. */
const LANE_LOCK_CLASS = 7_270_415;

/** The locks that keep writers out, for the search for their holders. */
export const PEOPLE_LOCK_CLASSES = [PEOPLE_LOCK_CLASS, LANE_LOCK_CLASS];

/** Takes the locks with these numbers, in their order, and keeps them until the transaction ends. */
const LOCK_LANES = (lockClass: string, numbers: string): string =>
  `(select count(pg_advisory_xact_lock(${lockClass}::int, number)::text) from unnest(${numbers}::int[]) as number)`;

/**
 * How long a transaction that writes users waits for a lock, in milliseconds. It holds others meanwhile, so it does not
 * wait longer: it is rolled back, and whoever needs that lock waits without a transaction
 * (docs/decisions/waiting-for-locks.md).
 */
export const LOCK_MS = 150;

/** How long it waits if it runs again because of a lock: such writers are many, and need connections. */
export const LOCK_AGAIN_MS = 15;

/** How long it waits for a lock of a lane: holders of these locks do not wait for long either. */
const LANE_LOCK_MS = 3_000;

/** Sets how long the transaction waits for each lock from now on, as part of a select. */
const waitFor = (parameter: string): string => `set_config('lock_timeout', ${parameter}, true)`;

/** How the transaction of a writer begins. */
export interface WriterStart {
  /** The locks of its lanes, if it is to wait for other writers: see `laneLocksOf`. */
  readonly locks: readonly number[];
  /** How long the transaction waits for each lock; undefined where no transaction waits for another. */
  readonly lockMs: number | undefined;
  /**
   * Whether the engine keeps the plans of its statements. Planning takes half the engine's time for one item, and a
   * twelfth for 500. Only statements that have one plan for tables of any size may be kept.
   */
  readonly keepsPlans?: boolean;
}

/** Not where the settings of `core/database/planner.ts` did not arrive, as behind a pooler that drops them: other plans are possible there. */
const KEEP_PLANS = `set_config('plan_cache_mode', case when current_setting('enable_nestloop') = 'off'
  then 'force_generic_plan' else current_setting('plan_cache_mode') end, true)`;

/**
 * The part of a select that takes the locks of writers.
 *
 * @param first the number of the first parameter.
 */
export function lockingSelect(
  workspaceId: number,
  { locks, lockMs, keepsPlans }: WriterStart,
  first: number,
): { readonly columns: string; readonly parameters: readonly unknown[] } {
  const parameters: unknown[] = [];
  const next = (value: unknown): string => `$${first + parameters.push(value) - 1}`;
  const columns = [
    ...(keepsPlans ? [KEEP_PLANS] : []),
    ...(lockMs === undefined ? [] : [waitFor(`${next(String(lockMs))}::text`)]),
    `pg_advisory_xact_lock_shared(${next(PEOPLE_LOCK_CLASS)}::int, ${next(workspaceId)}::int)`,
  ];
  if (locks.length > 0) {
    const isBrief = lockMs !== undefined;
    if (isBrief) columns.push(waitFor(`${next(String(LANE_LOCK_MS))}::text`));
    columns.push(LOCK_LANES(next(LANE_LOCK_CLASS), next(locks)));
    if (isBrief) columns.push(waitFor(`$${first}::text`));
  }
  return { columns: columns.join(", "), parameters };
}

/** Sets how long a transaction waits for each lock. */
export const limitLockWait = (tx: Transaction, lockMs: number) =>
  tx.query(`select ${waitFor("$1::text")}`, [String(lockMs)]);

/**
 * The first statement of every transaction that writes users or their data: it waits for a running
 * reset. Otherwise a user created during a reset could lose the profile and keep identifiers
 * without one.
 */
export async function writePeopleOf(
  tx: Transaction,
  workspaceId: number,
  start: WriterStart,
): Promise<void> {
  const { columns, parameters } = lockingSelect(workspaceId, start, 1);
  await tx.query(`select ${columns}`, parameters);
}

/**
 * The locks of a transaction that writes about people with these identifiers, in the order that all
 * use. They order writers, so that none computes from what another is about to change
 * (docs/decisions/lane-locks.md).
 */
export function laneLocksOf(
  workspaceId: number,
  names: Iterable<{ readonly kind: string; readonly value: string }>,
): number[] {
  const isNamed = new Uint8Array(LANE_LOCKS);
  for (const { kind, value } of names) {
    isNamed[laneLockAt(kind === "platform_id" ? placeOfId(value) : placeOf(workspaceId, value))] =
      1;
  }
  // The engine's numbers have 32 bits.
  const numberOf = (lock: number) => (workspaceId * LANE_LOCKS + lock) | 0;
  return [...isNamed.keys()].filter((lock) => isNamed[lock] === 1).map(numberOf);
}

/**
 * Waits for all writers of users and keeps them out until the transaction ends. On a cluster the
 * lock is taken on every node, because transactions hold it on the node where they begin.
 */
export async function lockPeople(tx: Transaction, workspaceId: number): Promise<void> {
  // On one connection to each node: with two the transaction would wait for itself.
  await tx.query("set local citus.max_adaptive_executor_pool_size = 1");
  await tx.query("select pg_advisory_xact_lock($1::int, $2::int)", [
    PEOPLE_LOCK_CLASS,
    workspaceId,
  ]);
  await tx.query("select max(pg_advisory_xact_lock($1::int, $2::int)::text) from buckets", [
    PEOPLE_LOCK_CLASS,
    workspaceId,
  ]);
}
