import { placeOf, placeOfId } from "./buckets.ts";
import type { Transaction } from "./database.ts";
import { LANE_LOCKS, laneLockAt } from "./lanes.ts";

/** Distinguishes these locks from Rapport's others. */
export const PEOPLE_LOCK_CLASS = 7_270_414;

/** The same for the locks of lanes. */
export const LANE_LOCK_CLASS = 7_270_415;

/** Takes the locks with these numbers, in their order, and keeps them until the transaction ends. */
export const LOCK_LANES = (lockClass: string, numbers: string): string =>
  `(select count(pg_advisory_xact_lock(${lockClass}::int, number)::text) from unnest(${numbers}::int[]) as number)`;

/**
 * The first statement of every transaction that writes users or their data: it waits for a running
 * reset. Otherwise a user created during a reset could lose the profile and keep identifiers
 * without one.
 *
 * @param locks the locks of its lanes, if it is to wait for other writers: see `laneLocksOf`.
 */
export async function writePeopleOf(
  tx: Transaction,
  workspaceId: number,
  locks: readonly number[] = [],
): Promise<void> {
  if (locks.length === 0) {
    await tx.query("select pg_advisory_xact_lock_shared($1::int, $2::int)", [
      PEOPLE_LOCK_CLASS,
      workspaceId,
    ]);
    return;
  }
  await tx.query(
    `select pg_advisory_xact_lock_shared($1::int, $2::int), ${LOCK_LANES("$3", "$4")}`,
    [PEOPLE_LOCK_CLASS, workspaceId, LANE_LOCK_CLASS, locks],
  );
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
  const locks = new Set<number>();
  for (const { kind, value } of names) {
    locks.add(laneLockAt(kind === "platform_id" ? placeOfId(value) : placeOf(workspaceId, value)));
  }
  // The engine's numbers have 32 bits.
  const numberOf = (lock: number) => (workspaceId * LANE_LOCKS + lock) | 0;
  return [...locks].sort((one, other) => one - other).map(numberOf);
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
