import type { JsonObject } from "../../base/values/plain-json.ts";

/*
 * Events and purchases come through track; their summaries are updated in the same transaction. Apps,
 * devices, interactions and sent messages come only through the import
 * (docs/decisions/imported-activity.md). Every writer of activity has locked the profile
 * (docs/decisions/read-compute-write.md).
 */

/** Something that belongs to a profile. */
export type Of<Thing> = Thing & { readonly profileId: string };

/** How often a person did something, and when first and last. */
export interface EventSummary {
  readonly name: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** The purchases of one product in one currency by one person. */
export interface PurchaseSummary {
  readonly productId: string;
  readonly currency: string;
  readonly count: number;
  /** An exact decimal, in the currency's base unit. */
  readonly revenue: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export interface AppUsage {
  readonly appId: string;
  readonly version: string | null;
  readonly sessions: number;
  readonly firstUsedAt: Date;
  readonly lastUsedAt: Date;
}

export interface Device {
  readonly deviceId: string;
  /** Model, operating system and so on, as export shows them. */
  readonly details: JsonObject;
}

export type InteractionKind = "campaign" | "canvas" | "card";

/** The interactions of a person with one campaign, canvas or card. */
export interface Interaction {
  readonly kind: InteractionKind;
  readonly id: string;
  /** As export shows it, times in ISO 8601. */
  readonly details: JsonObject;
}

export interface SentMessage {
  readonly messageId: string;
  readonly channel: string;
  readonly sentAt: Date;
  readonly details: JsonObject;
}

/** The activity of each profile in `from` moves to the profile at the same index of `to`. */
export interface Moves {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** The last `days` days, which began at `since`. */
export interface Window {
  readonly days: number;
  readonly since: Date;
}

export interface RecentEvents {
  readonly name: string;
  readonly days: number;
  readonly count: number;
}

export interface RecentPurchases {
  readonly productId: string;
  readonly currency: string;
  readonly days: number;
  readonly count: number;
  /** An exact decimal, in the currency's base unit. */
  readonly revenue: string;
}

/** A part of a history, newest first; undefined members do not narrow. */
export interface TimelineRange {
  /** Only entries whose time and id come before these; the id decides between equal times. */
  readonly before: { readonly at: Date; readonly id: string } | undefined;
  /** Included. */
  readonly since: Date | undefined;
  /** For events: only those with this name. */
  readonly event?: string | undefined;
  readonly limit: number;
}

/** The windows of recent activity, in days. spec: Merge behaviour, X times in Y days, Y <= 30. */
export const RECENT_DAYS = [1, 3, 7, 14, 21, 30] as const;
