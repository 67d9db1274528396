import type { Transaction } from "./database.ts";

/** Distinguishes these locks from Rapport's others. */
export const PEOPLE_LOCK_CLASS = 7_270_414;

/**
 * The first statement of every transaction that writes users or their data: it waits for a running reset.
 * Otherwise a user created during a reset could lose the profile and keep identifiers that lead nowhere.
 */
export async function writePeopleOf(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("select pg_advisory_xact_lock_shared($1::int, $2::int)", [
    PEOPLE_LOCK_CLASS,
    workspaceId,
  ]);
}

/** Waits for all writers of users and keeps them out until the transaction ends. On a cluster the lock is taken on every node, for transactions hold it where they begin. */
export async function lockPeople(tx: Transaction, workspaceId: number): Promise<void> {
  // On one connection to each node: on two the transaction would wait for itself.
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
