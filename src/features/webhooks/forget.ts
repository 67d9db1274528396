import { earlier } from "../../core/base/clock.ts";
import type { Database, Transaction } from "../../core/database/database.ts";
import { deleteAllDeliveries, deleteOldDeadLetters } from "./deliveries-store.ts";
import { movePositions } from "./positions-store.ts";
import { endOfFeed } from "./save-webhook.ts";

/** A reset empties the feed: webhooks go on at its end. After the feed itself is emptied. */
export async function eraseDeliveries(tx: Transaction, workspaceId: number): Promise<void> {
  await deleteAllDeliveries(tx, workspaceId);
  await movePositions(tx, workspaceId, await endOfFeed(tx, workspaceId));
}

/** No feed keeps a change for longer. */
const LONGEST_RETENTION = { days: 90 };

/** Deletes dead letters that are older than any feed's retention. */
export const sweepDeadLetters = (database: Database, now: Date) =>
  deleteOldDeadLetters(database, earlier(now, LONGEST_RETENTION));
