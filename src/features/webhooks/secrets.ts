import { sealedColumn } from "../../core/admin/secrets/rotate.ts";
import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { selectSecrets, updateSecrets } from "./store.ts";
import type { StoredWebhook, WebhookKey } from "./webhook.ts";

/** Where a secret is sealed to: one place for both secrets, so that the stored secret can become the previous one unchanged. */
export const placeOf = ({ workspaceId, webhookId }: WebhookKey): string =>
  `webhooks ${workspaceId} ${webhookId}`;

/** The secret of a webhook; undefined if its key is lost. */
export function openSecret(
  sealing: Sealing,
  key: WebhookKey,
  { secret }: Pick<StoredWebhook, "secret">,
): string | undefined {
  try {
    return sealing.open(secret, placeOf(key));
  } catch (error) {
    if (error instanceof Unopenable) return undefined;
    throw error;
  }
}

/**
 * The secrets that sign a delivery: the present one, and the previous one while it is valid;
 * undefined if the key is lost.
 */
export function signingSecrets(
  sealing: Sealing,
  key: WebhookKey,
  { secret, previousSecret, previousUntil }: StoredWebhook,
  now: Date,
): readonly string[] | undefined {
  const present = openSecret(sealing, key, { secret });
  if (present === undefined) return undefined;
  const isRotating = previousSecret !== null && previousUntil !== null && previousUntil > now;
  const previous = isRotating ? openSecret(sealing, key, { secret: previousSecret }) : undefined;
  return previous === undefined ? [present] : [present, previous];
}

/** The secrets of webhooks; secrets with a lost key stay until they are replaced. */
export const webhookSecrets = sealedColumn({
  select: selectSecrets,
  valueIn: (row) => ({ stored: row.sealed, place: placeOf(row) }),
  update: (tx, rows) =>
    updateSecrets(
      tx,
      rows.map(({ row, sealed }) => ({ ...row, sealed })),
    ),
});
