import { settleAll, type Transaction } from "../database/database.ts";
import type {
  EventDetails,
  EventSummary,
  Moves,
  Occurrence,
  Of,
  PurchaseDetails,
  PurchaseSummary,
  SentMessage,
} from "./activity.ts";
import { upsertAppUsages, upsertDevices, upsertInteractions } from "./app-activity-store.ts";
import { copyEvents, insertEvents, upsertEventSummaries } from "./events-store.ts";
import { copyPurchases, insertPurchases, upsertPurchaseSummaries } from "./purchases-store.ts";
import type { AppActivity } from "./read-activity.ts";
import { deleteActivity } from "./removal-store.ts";
import { copySentMessages, upsertSentMessages } from "./sent-messages-store.ts";

/*
 * All profiles that are written to here must be locked by the transaction. Of each profile and event,
 * product and currency, app, device, interaction or message at most one may be given.
 */

/** Adds events and purchases, and adds them up in their summaries. */
export async function addActivity(
  tx: Transaction,
  workspaceId: number,
  events: readonly Occurrence<EventDetails>[],
  purchases: readonly Occurrence<PurchaseDetails>[],
): Promise<void> {
  await settleAll([
    insertEvents(tx, workspaceId, events),
    insertPurchases(tx, workspaceId, purchases),
  ]);
}

export interface SetAppActivity extends AppActivity {
  readonly messages: readonly Of<SentMessage>[];
}

/** Sets what is given, replacing what was there under the same id. */
export async function setAppActivity(
  tx: Transaction,
  workspaceId: number,
  { apps, devices, interactions, messages }: SetAppActivity,
): Promise<void> {
  await settleAll([
    upsertAppUsages(tx, workspaceId, apps),
    upsertDevices(tx, workspaceId, devices),
    upsertInteractions(tx, workspaceId, interactions),
    upsertSentMessages(tx, workspaceId, messages),
  ]);
}

/** What a merge makes of the kept profiles; whatever stays the same may be left out. */
export interface MergedActivity extends AppActivity {
  readonly events: readonly Of<EventSummary>[];
  readonly purchases: readonly Of<PurchaseSummary>[];
}

/** Whose activity moves or goes. */
export interface ActivityMoves {
  /** Whose events and purchases move. */
  readonly moves: Moves;
  /** Whose message history moves; everything else of `from` is deleted. */
  readonly messageMoves: Moves;
  /** Whose activity is deleted. */
  readonly deletedIds: readonly string[];
}

/**
 * Moves events, purchases and messages, each unchanged and once, sets the summaries that were worked
 * out for the profiles that have them now, and deletes what is left of the others.
 */
export async function moveActivity(
  tx: Transaction,
  workspaceId: number,
  { moves, messageMoves, deletedIds }: ActivityMoves,
  merged: MergedActivity,
): Promise<void> {
  await settleAll([
    copyEvents(tx, workspaceId, moves),
    copyPurchases(tx, workspaceId, moves),
    copySentMessages(tx, workspaceId, messageMoves),
    deleteActivity(tx, workspaceId, [...messageMoves.from, ...deletedIds]),
    upsertEventSummaries(tx, workspaceId, merged.events),
    upsertPurchaseSummaries(tx, workspaceId, merged.purchases),
    setAppActivity(tx, workspaceId, { ...merged, messages: [] }),
  ]);
}
