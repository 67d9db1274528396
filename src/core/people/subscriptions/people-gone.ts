import type { Clock } from "../../base/clock.ts";
import type { CallRecord } from "../../base/context/context.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import {
  deleteEmailStateChanges,
  deleteGroupStateChanges,
  type EmailStateChange,
  type GroupStateChange,
  insertCarriedChanges,
} from "./history-store.ts";
import { deleteJoined, type JoinedSpelling } from "./spellings-store.ts";
import { dated, type StateChanges } from "./states.ts";
import {
  type DatedGroupState,
  deleteGroupStates,
  type GroupStateRow,
  insertMissingGroupStates,
  selectGroupStates,
} from "./store.ts";

/*
 * States and their history when a profile is removed: a deletion deletes them, a merge moves them. The email
 * state belongs to the address and stays; its history is deleted with the last user of the address.
 */

/**
 * Removes the group states and the history of deleted users.
 *
 * @param gone the profiles, and the addresses that no user has now: their history is deleted,
 *   while their state stays, because a refusal must outlive the profile.
 * @returns what was removed.
 */
export async function forgetSubscriptions(
  tx: Transaction,
  workspaceId: number,
  gone: { readonly profileIds: readonly string[]; readonly emails: readonly string[] },
): Promise<ForgottenSubscriptions> {
  const [groupStates, groupHistory, emailHistory, joined] = await settleAll([
    deleteGroupStates(tx, workspaceId, gone.profileIds),
    deleteGroupStateChanges(tx, workspaceId, gone.profileIds),
    deleteEmailStateChanges(tx, workspaceId, gone.emails),
    deleteJoined(tx, workspaceId, gone.emails),
  ]);
  return { groupStates, groupHistory, emailHistory, joined };
}

export interface ForgottenSubscriptions {
  readonly groupStates: readonly DatedGroupState[];
  readonly groupHistory: readonly GroupStateChange[];
  readonly emailHistory: readonly EmailStateChange[];
  readonly joined: readonly JoinedSpelling[];
}

export interface Merged {
  readonly fromId: string;
  readonly toId: string;
  /** The call that gave the kept profile its final states. */
  readonly context: CallRecord;
}

/**
 * Moves the group states of merged profiles. The kept profile keeps its states and receives missing ones; of
 * several profiles merged into one, the first in the list prevails.
 *
 * The whole history moves. For every group in it an entry with the resulting state is added, so that the
 * newest entry of a group is always its state.
 *
 * The profiles must be locked by the transaction. docs/decisions/merging.md
 *
 * @returns what the merged profiles had, and what the kept ones have received.
 */
export async function carrySubscriptionsOver(
  tx: Transaction,
  workspaceId: number,
  merges: readonly Merged[],
  clock: Clock,
): Promise<Carried> {
  const toIds = new Map(merges.map(({ fromId, toId }) => [fromId, toId]));
  const contextOf = new Map(merges.map(({ toId, context }) => [toId, context]));
  const fromIds = [...toIds.keys()];
  const [states, history] = await settleAll([
    deleteGroupStates(tx, workspaceId, fromIds),
    deleteGroupStateChanges(tx, workspaceId, fromIds),
  ]);
  const carried = <Row extends { readonly profileId: string }>(row: Row): Row => ({
    ...row,
    profileId: toIds.get(row.profileId) as string,
  });
  const moved = (row: GroupStateChange) => ({
    ...carried(row),
    originId: row.originId ?? row.profileId,
  });
  const placeOf = new Map(fromIds.map((id, place) => [id, place]));
  const inOrder = states.sort(
    (a, b) => (placeOf.get(a.profileId) ?? 0) - (placeOf.get(b.profileId) ?? 0),
  );
  const coming = new Map<string, GroupStateRow>();
  for (const row of inOrder.map(carried)) {
    if (!coming.has(keyOf(row))) coming.set(keyOf(row), row);
  }
  const missing = await insertMissingGroupStates(
    tx,
    workspaceId,
    [...coming.values()],
    clock.now(),
  );
  const kept = await selectGroupStates(tx, workspaceId, [...new Set(toIds.values())]);
  const resulting = kept
    .filter((row) => coming.has(keyOf(row)))
    .map((row) => ({ ...row, context: contextOf.get(row.profileId) as CallRecord }));
  const entries = dated(resulting, clock);
  await insertCarriedChanges(tx, workspaceId, [...history.map(moved), ...entries]);
  const isNew = new Set(missing.map(keyOf));
  const received = entries
    .filter((row) => isNew.has(keyOf(row)))
    .map((row) => ({ ...row, before: null }));
  return { states, entries, received };
}

export interface Carried {
  readonly states: readonly DatedGroupState[];
  /** The entries that the history of kept profiles has received beside what moved. */
  readonly entries: readonly GroupStateChange[];
  /** The states that kept profiles have received. */
  readonly received: StateChanges["groupStates"];
}

const keyOf = ({ profileId, groupId }: GroupStateRow): string => `${profileId} ${groupId}`;
