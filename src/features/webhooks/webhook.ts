import type { Json } from "../../core/base/values/plain-json.ts";

/*
 * A webhook delivers the change feed of a workspace to a URL: batches in the order of each partition, signed as Standard
 * Webhooks, tried again until they are accepted. docs/webhooks.md
 */

export const WEBHOOK_STATES = ["active", "paused"] as const;

export type WebhookState = (typeof WEBHOOK_STATES)[number];

export interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  /** `whsec_` and the key in base64. */
  readonly secret: string;
  /** The types of changes that are delivered; all if it is empty. */
  readonly types: readonly string[];
  readonly contactEmails: readonly string[];
  readonly state: WebhookState;
}

/** As stored: the secrets are sealed. */
export interface StoredWebhook extends Webhook {
  /** The secret before, and until when deliveries are signed with it as well. */
  readonly previousSecret: string | null;
  readonly previousUntil: Date | null;
  /** Why deliveries were paused automatically; null if they were not. */
  readonly pausedReason: string | null;
  /** Whether a manifest declared it. */
  readonly declared: boolean;
}

/** How many webhooks a workspace may have, so that its connections are bounded. */
export const MOST_WEBHOOKS = 20;

export const MOST_CHANGES = 500;
export const MOST_BATCH_BYTES = 1_048_576;

/** How many dead letters a webhook may have: it pauses rather than losing one. */
export const MOST_DEAD_LETTERS = 1_000;

export const MOST_DELIVERIES = 100;

export interface WebhookKey {
  readonly workspaceId: number;
  readonly webhookId: string;
}

export const bodyOf = (changes: readonly string[]): string => `{"changes":[${changes.join()}]}`;

/** The body of a test, which has no change in it. */
export const TEST_BODY: Json = { changes: [], test: true };
