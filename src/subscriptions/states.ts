import type { Queryable, Transaction } from "../database/database.ts";
import {
  deleteAllStates,
  type EmailStateRow,
  type GroupStateRow,
  insertMissingEmailStates,
  selectEmailStates,
  selectGroupStates,
  upsertEmailStates,
  upsertGroupStates,
} from "./store.ts";

/*
 * What people want to receive. A group state belongs to a profile; the email state belongs to the
 * address, so that it holds for whoever has the address now and for whoever gets it later.
 */

export type { EmailState, EmailStateRow, GroupState, GroupStateRow } from "./store.ts";

/** What a batch of writes does to subscriptions; who is meant has been worked out already. */
export interface SubscriptionChanges {
  readonly groupStates: readonly GroupStateRow[];
  readonly emailStates: readonly EmailStateRow[];
  /** Only for addresses that have no state yet. */
  readonly initialEmailStates: readonly EmailStateRow[];
}

/** Writes the changes. The profiles must be locked by the transaction. */
export async function writeSubscriptions(
  tx: Transaction,
  workspaceId: number,
  changes: SubscriptionChanges,
  now: Date,
): Promise<void> {
  await Promise.all([
    upsertGroupStates(tx, workspaceId, changes.groupStates, now),
    insertMissingEmailStates(tx, workspaceId, changes.initialEmailStates, now),
    upsertEmailStates(tx, workspaceId, changes.emailStates, now),
  ]);
}

/** The group states of profiles. */
export const readGroupStates = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<GroupStateRow[]> => selectGroupStates(database, workspaceId, profileIds);

/** The email states that are stored for addresses (lower case); an address without one is subscribed. */
export const readEmailStates = (
  database: Queryable,
  workspaceId: number,
  emails: readonly string[],
): Promise<EmailStateRow[]> => selectEmailStates(database, workspaceId, emails);

export const eraseSubscriptions = (tx: Transaction, workspaceId: number): Promise<void> =>
  deleteAllStates(tx, workspaceId);
