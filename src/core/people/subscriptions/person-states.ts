import { type Queryable, settleAll, type Transaction } from "../../database/database.ts";
import type { TimelineRange } from "../activity/activity.ts";
import { deleteHardBounces } from "./email-list-store.ts";
import {
  deleteEmailStateChanges,
  type EmailStateChange,
  type GroupStateChange,
  selectEmailStateChanges,
  selectGroupStateChanges,
} from "./history-store.ts";
import { deleteJoined } from "./spellings-store.ts";
import { deleteEmailStates } from "./store.ts";

/* The history of one person, and the data of one address. */

const filterOf = ({ before, since, limit }: TimelineRange) => ({
  profileIds: undefined,
  emails: undefined,
  groupId: undefined,
  since,
  until: undefined,
  before: before && { changedAt: before.at, id: before.id },
  limit,
});

export const readGroupChangesBefore = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  range: TimelineRange,
): Promise<GroupStateChange[]> =>
  selectGroupStateChanges(database, workspaceId, { ...filterOf(range), profileIds: [profileId] });

/** @param email the form of an address. */
export const readEmailChangesBefore = (
  database: Queryable,
  workspaceId: number,
  email: string,
  range: TimelineRange,
): Promise<EmailStateChange[]> =>
  selectEmailStateChanges(database, workspaceId, { ...filterOf(range), emails: [email] });

/**
 * Removes everything stored for an address: its state, the history, and a bounce.
 *
 * @param email the form of an address.
 * @returns whether a state or a bounce was stored.
 */
export async function forgetAddress(
  tx: Transaction,
  workspaceId: number,
  email: string,
): Promise<boolean> {
  const [states, bounces] = await settleAll([
    deleteEmailStates(tx, workspaceId, [email]),
    deleteHardBounces(tx, workspaceId, [email]),
    deleteEmailStateChanges(tx, workspaceId, [email]),
    deleteJoined(tx, workspaceId, [email]),
  ]);
  return states.length > 0 || bounces.length > 0;
}
