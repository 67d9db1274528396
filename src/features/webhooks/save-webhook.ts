import { isDeepStrictEqual } from "node:util";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { saveHasWebhooks } from "../../core/admin/workspaces/find-workspace.ts";
import { refuseGrowth } from "../../core/admin/workspaces/most-entries.ts";
import { type Clock, later } from "../../core/base/clock.ts";
import type { Transaction } from "../../core/database/database.ts";
import { PARTITION_BUCKETS } from "../../core/people/changes/partitions.ts";
import { selectHeads } from "../../core/people/changes/store.ts";
import { insertPositions, restartPositions } from "./positions-store.ts";
import { openSecret, placeOf } from "./secrets.ts";
import { newSigningSecret } from "./sign.ts";
import { deleteWebhooks, selectWebhooks, upsertWebhook } from "./store.ts";
import { MOST_WEBHOOKS, type StoredWebhook, type Webhook } from "./webhook.ts";

export type SaveServices = { readonly clock: Clock; readonly sealing: Sealing };

/**
 * The wanted state of a webhook; without a secret the present one stays, and a new webhook gets
 * one.
 */
export type WantedWebhook = Omit<Webhook, "secret"> & { readonly secret: string | undefined };

/** How long the secret before is good, so that the receiver can change its own. */
const OVERLAP = { hours: 24 };

interface SaveOptions {
  readonly declared: boolean;
  /** Whether a webhook that was paused automatically resumes though nothing else changes. */
  readonly resumes: boolean;
  /** Whether it stays paused though something changes. */
  readonly staysPaused?: boolean;
}

/**
 * Creates or changes a webhook. A new webhook delivers changes from now on; a paused one resumes
 * where it was.
 *
 * @returns undefined if nothing changes.
 */
export async function saveWebhook(
  tx: Transaction,
  { clock, sealing }: SaveServices,
  workspaceId: number,
  wanted: WantedWebhook,
  stored: StoredWebhook | undefined,
  { declared, resumes, staysPaused = false }: SaveOptions,
): Promise<"created" | "updated" | undefined> {
  const now = clock.now();
  const key = { workspaceId, webhookId: wanted.id };
  const opened = stored && openSecret(sealing, key, stored);
  const secret = wanted.secret ?? opened ?? newSigningSecret();
  const isSame =
    stored !== undefined && isDeepStrictEqual(plainOf(stored, opened), { ...wanted, secret });
  const isResumed = resumes && wanted.state === "active" && stored?.pausedReason != null;
  if (isSame && !isResumed && stored.declared === declared) return undefined;
  const isRotated = stored !== undefined && secret !== opened;
  await upsertWebhook(
    tx,
    workspaceId,
    {
      ...wanted,
      secret: stored && !isRotated ? stored.secret : await sealing.seal(tx, secret, placeOf(key)),
      previousSecret: isRotated ? stored.secret : (stored?.previousSecret ?? null),
      previousUntil: isRotated ? later(now, OVERLAP) : (stored?.previousUntil ?? null),
      pausedReason: staysPaused || (isSame && !isResumed) ? (stored?.pausedReason ?? null) : null,
      declared,
    },
    now,
  );
  if (isSame && !isResumed) return undefined;
  if (stored) await restartPositions(tx, key);
  else await begin(tx, workspaceId, wanted.id);
  return stored ? "updated" : "created";
}

const plainOf = (
  { id, name, url, types, contactEmails, state }: StoredWebhook,
  secret: string | undefined,
) => ({ id, name, url, types, contactEmails, state, secret });

/** Turns the feed on, if need be, and starts at its end. */
async function begin(tx: Transaction, workspaceId: number, webhookId: string): Promise<void> {
  await saveHasWebhooks(tx, workspaceId, true);
  const { length } = await selectWebhooks(tx, workspaceId);
  refuseGrowth({ noun: "webhooks", most: MOST_WEBHOOKS }, length - 1, length);
  const places = await endOfFeed(tx, workspaceId);
  await insertPositions(
    tx,
    { workspaceId, webhookId },
    places.map(([partition, position]) => ({ partition, position, endsAt: null })),
  );
}

export async function endOfFeed(
  tx: Transaction,
  workspaceId: number,
): Promise<(readonly [bucket: number, position: number])[]> {
  const heads = await selectHeads(tx, [workspaceId]);
  const positions = new Map(heads.map(({ bucket, position }) => [bucket, position]));
  return PARTITION_BUCKETS.map((bucket) => [bucket, positions.get(bucket) ?? 0] as const);
}

/** Removes webhooks; without any, the feed is on only if the settings say so. */
export async function removeWebhooks(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<void> {
  await deleteWebhooks(tx, workspaceId, ids);
  if ((await selectWebhooks(tx, workspaceId)).length === 0) {
    await saveHasWebhooks(tx, workspaceId, false);
  }
}
