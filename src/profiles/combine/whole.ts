import type { Alias } from "../identifiers.ts";
import type { JsonObject } from "../plain-json.ts";
import type { Attributes } from "../store.ts";

/** What stands in the row of a profile, less its id and its times. */
export interface ProfileFields {
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: Attributes;
  readonly customAttributes: Attributes;
}

/** How often a person did something, when first and when last. */
export interface EventTotal {
  readonly name: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** What a person bought of one product in one currency. */
export interface PurchaseTotal {
  readonly productId: string;
  readonly currency: string;
  readonly count: number;
  /** An exact decimal, in the currency's base unit. */
  readonly revenue: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export interface HeldGroupState {
  readonly groupId: string;
  readonly state: string;
}

/** The summary of one app on one profile. */
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

/** What a person did with one campaign, canvas or card. */
export interface Interaction {
  readonly kind: InteractionKind;
  readonly id: string;
  /** As export shows it, times in ISO 8601. */
  readonly details: JsonObject;
}

/** Everything that is kept about a person outside the profile's row. */
export interface Belongings {
  readonly events: readonly EventTotal[];
  readonly purchases: readonly PurchaseTotal[];
  readonly groupStates: readonly HeldGroupState[];
  readonly apps: readonly AppUsage[];
  readonly devices: readonly Device[];
  readonly interactions: readonly Interaction[];
  /** How many messages the history holds; they move one by one, as events do. */
  readonly messages: number;
}

/** A person with everything that is known about them. */
export interface Whole {
  readonly profile: ProfileFields;
  readonly belongings: Belongings;
}

export const NO_BELONGINGS: Belongings = {
  events: [],
  purchases: [],
  groupStates: [],
  apps: [],
  devices: [],
  interactions: [],
  messages: 0,
};

/** Somebody about whom nothing is known: joined with anybody, the other one is what comes out. */
export const NOBODY: Whole = {
  profile: {
    externalId: null,
    aliases: [],
    email: null,
    phone: null,
    standardAttributes: {},
    customAttributes: {},
  },
  belongings: NO_BELONGINGS,
};
