import type {
  AppUsage,
  Device,
  EventSummary,
  Interaction,
  PurchaseSummary,
} from "../../activity/activity.ts";
import type { ProfileFields } from "../../profiles/store.ts";

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
