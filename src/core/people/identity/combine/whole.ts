import type {
  AppUsage,
  Device,
  EventSummary,
  Interaction,
  PurchaseSummary,
} from "../../activity/activity.ts";
import type { Alias } from "../../profiles/identifiers.ts";
import type { Attributes } from "../../profiles/store.ts";

/** The row of a profile without its id and times. */
export interface ProfileFields {
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: Attributes;
  readonly customAttributes: Attributes;
}

export interface HeldGroupState {
  readonly groupId: string;
  readonly state: string;
}

/** Everything that is stored about a person outside the profile's row. */
export interface Belongings {
  readonly events: readonly EventSummary[];
  readonly purchases: readonly PurchaseSummary[];
  readonly groupStates: readonly HeldGroupState[];
  readonly apps: readonly AppUsage[];
  readonly devices: readonly Device[];
  readonly interactions: readonly Interaction[];
  /** How many messages the history holds; they move one by one, as events do. */
  readonly messages: number;
}

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

/** The neutral element of `combine`: combined with any person, it yields that person. */
export const EMPTY: Whole = {
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
