import { settleAll, type Transaction } from "../../database/database.ts";
import type { EventDetails, Occurrence, PurchaseDetails } from "../profiles/written.ts";
import type { EventSummary, Moves, Of, PurchaseSummary, SentMessage } from "./activity.ts";
import { upsertAppUsages, upsertDevices, upsertInteractions } from "./app-activity-store.ts";
import { insertEvents, upsertEventSummaries } from "./events-store.ts";
import { copyMoved, moveInPlace, type OnConflict } from "./moves-store.ts";
import { insertPurchases, upsertPurchaseSummaries } from "./purchases-store.ts";
import type { AppActivity } from "./read-activity.ts";
import { deleteActivity } from "./removal-store.ts";
import { upsertSentMessages } from "./sent-messages-store.ts";
import type { ActivityPart } from "./size-store.ts";

/*
 * The transaction must have locked all profiles that are written here. Except for events and purchases, a
 * profile may have at most one row for each key.
 */

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

/** Sets entries, replacing those with the same id. */
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

/** The rows of kept profiles that a merge changes. */
export interface MergedActivity extends AppActivity {
  readonly events: readonly Of<EventSummary>[];
  readonly purchases: readonly Of<PurchaseSummary>[];
}

export async function setSummaries(
  tx: Transaction,
  workspaceId: number,
  merged: MergedActivity,
): Promise<void> {
  await settleAll([
    upsertEventSummaries(tx, workspaceId, merged.events),
    upsertPurchaseSummaries(tx, workspaceId, merged.purchases),
    setAppActivity(tx, workspaceId, { ...merged, messages: [] }),
  ]);
}

export interface ActivityMoves {
  readonly moves: Moves;
  /** Profiles whose message history moves; everything else of `from` is deleted. */
  readonly messageMoves: Moves;
  readonly deletedIds: readonly string[];
  /** Profiles that are removed without their events and purchases. */
  readonly leftIds: ReadonlySet<string>;
  readonly onConflict: OnConflict | undefined;
  /** Tables known to have no row of any of these profiles. */
  readonly empty: ReadonlySet<ActivityPart>;
  /** Profiles that may have more than `MANY_ROWS` rows in a table. */
  readonly large: ReadonlySet<string>;
  /** Whether rows of different buckets may be on different nodes. */
  readonly isCluster: boolean;
}

/** Moves events, purchases and messages unchanged, sets the merged summaries, and deletes the rest. */
export async function moveActivity(
  tx: Transaction,
  workspaceId: number,
  { moves, messageMoves, deletedIds, leftIds, onConflict, empty, large, isCluster }: ActivityMoves,
  merged: MergedActivity,
): Promise<void> {
  const inPlace = new Set(isCluster ? [] : moves.from.filter((id) => large.has(id)));
  for (const [index, id] of moves.from.entries()) {
    if (inPlace.has(id)) await moveInPlace(tx, workspaceId, id, moves.to[index] as string);
  }
  const copied = moves.from.flatMap((id, index) => (inPlace.has(id) ? [] : [index]));
  const writeLast = await copyMoved(
    tx,
    workspaceId,
    {
      from: copied.map((index) => moves.from[index] as string),
      to: copied.map((index) => moves.to[index] as string),
    },
    empty.has("message_history") ? { from: [], to: [] } : messageMoves,
    large,
    onConflict,
  );
  await settleAll([
    writeLast(),
    deleteActivity(tx, workspaceId, [...messageMoves.from, ...deletedIds], {
      empty,
      large,
      leftIds,
    }),
    setSummaries(tx, workspaceId, merged),
  ]);
}
