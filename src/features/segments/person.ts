import type { Json, JsonObject } from "../../core/base/values/plain-json.ts";
import type {
  AppUsage,
  Device,
  EventSummary,
  PurchaseSummary,
} from "../../core/people/activity/activity.ts";
import type { Alias } from "../../core/people/profiles/identifiers.ts";
import type { EmailState, GroupState } from "../../core/people/subscriptions/states.ts";

/** A single occurrence, as stored. */
export interface Happening {
  /** The name of an event or the id of a product. */
  readonly name: string;
  readonly time: Date;
  readonly properties: Json | null;
}

export interface Bought extends Happening {
  readonly currency: string;
  /** An exact decimal. */
  readonly price: string;
  readonly quantity: number;
}

/** Everything about a user that a filter can ask for. */
export interface SegmentPerson {
  readonly id: string;
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: JsonObject;
  readonly customAttributes: JsonObject;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly eventSummaries: readonly EventSummary[];
  readonly purchaseSummaries: readonly PurchaseSummary[];
  readonly events: readonly Happening[];
  readonly purchases: readonly Bought[];
  readonly apps: readonly AppUsage[];
  readonly devices: readonly Device[];
  readonly groupStates: ReadonlyMap<string, GroupState>;
  /** The state of the address; undefined without an address, or if none was set. */
  readonly emailState: EmailState | undefined;
  readonly hasBounced: boolean;
}
