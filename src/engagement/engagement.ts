import { allDone, type Queryable, type Transaction } from "../database/database.ts";
import type { AppUsage, Device, Interaction } from "../profiles/combine/whole.ts";
import {
  copyMessages,
  countMessages,
  deleteAllEngagement,
  deleteEngagement,
  type Message,
  type Of,
  selectAppUsages,
  selectDevices,
  selectInteractions,
  selectMessages,
  upsertAppUsages,
  upsertDevices,
  upsertInteractions,
  upsertMessages,
} from "./store.ts";

/*
 * What people did in apps and with messages: sessions, devices, campaigns, canvases, cards and the
 * history of messages. No public call writes it; the import does, and a merge joins it.
 */

export type { Message, Of } from "./store.ts";

export interface Engagement {
  readonly apps: readonly Of<AppUsage>[];
  readonly devices: readonly Of<Device>[];
  readonly interactions: readonly Of<Interaction>[];
}

/** What profiles did, but for the messages themselves. */
export async function readEngagement(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Engagement> {
  const [apps, devices, interactions] = await allDone([
    selectAppUsages(database, workspaceId, profileIds),
    selectDevices(database, workspaceId, profileIds),
    selectInteractions(database, workspaceId, profileIds),
  ]);
  return { apps, devices, interactions };
}

/** Sets what is given; of each profile and app, device, interaction or message at most one. */
export async function writeEngagement(
  tx: Transaction,
  workspaceId: number,
  engagement: Engagement & { readonly messages?: readonly Of<Message>[] },
): Promise<void> {
  await allDone([
    upsertAppUsages(tx, workspaceId, engagement.apps),
    upsertDevices(tx, workspaceId, engagement.devices),
    upsertInteractions(tx, workspaceId, engagement.interactions),
    upsertMessages(tx, workspaceId, engagement.messages ?? []),
  ]);
}

/** The messages of profiles, the newest first. */
export const readMessages = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<Message>[]> => selectMessages(database, workspaceId, profileIds);

/** How many messages each profile has; those without any are left out. */
export async function readMessageCounts(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await countMessages(database, workspaceId, profileIds);
  return new Map(rows.map((row) => [row.profileId, row.messages]));
}

/**
 * Moves the messages of profiles to others and removes everything else of those they came from; what
 * the others have of it now is written with `writeEngagement`. All must be locked.
 */
export async function moveEngagement(
  tx: Transaction,
  workspaceId: number,
  moves: { readonly from: readonly string[]; readonly to: readonly string[] },
): Promise<void> {
  if (moves.from.length === 0) return;
  await allDone([
    copyMessages(tx, workspaceId, moves.from, moves.to),
    deleteEngagement(tx, workspaceId, moves.from),
  ]);
}

/** Removes everything of profiles, which the transaction has locked. */
export async function removeEngagement(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  if (profileIds.length > 0) await deleteEngagement(tx, workspaceId, profileIds);
}

export const eraseEngagement = (tx: Transaction, workspaceId: number): Promise<void> =>
  deleteAllEngagement(tx, workspaceId);
