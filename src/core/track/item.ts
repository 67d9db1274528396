import type { Fault } from "../base/problem.ts";
import type { EmailState } from "../base/values/email-states.ts";
import type { Json } from "../base/values/plain-json.ts";
import type { AttributeOperation } from "../people/profiles/custom-attributes.ts";
import type { Target } from "../people/profiles/load-people.ts";
import type { EventDetails, PurchaseDetails } from "../people/profiles/written.ts";
import type { GroupState } from "../people/subscriptions/states.ts";

/** The arrays of a track request, in the order of application. */
export const INPUT_ARRAYS = ["attributes", "events", "purchases"] as const;

export type InputArray = (typeof INPUT_ARRAYS)[number];

/** One checked object of a track request: nothing about its form can fail any more. */
export interface Item extends Target {
  readonly array: InputArray;
  /** Its index in the array as sent. */
  readonly index: number;
  /** Whether a missing user is created. */
  readonly creates: boolean;
  readonly work: AttributesWork | EventWork | PurchaseWork;
}

export interface AttributesWork {
  readonly kind: "attributes";
  /** Undefined leaves it, null removes it. */
  readonly email: string | null | undefined;
  readonly phone: string | null | undefined;
  readonly emailState: EmailState | undefined;
  readonly groups: readonly { readonly groupId: string; readonly state: GroupState }[];
  readonly standard: readonly (readonly [name: string, value: Json])[];
  readonly custom: readonly AttributeOperation[];
}

export interface EventWork extends EventDetails {
  readonly kind: "event";
}

export interface PurchaseWork extends PurchaseDetails {
  readonly kind: "purchase";
}

/** The outcome of one item. */
export type Verdict =
  | {
      readonly outcome: "applied";
      readonly profileId: string;
      /** A part of the item that had no effect. */
      readonly note?: Fault;
    }
  | { readonly outcome: "skipped"; readonly reason: Fault }
  | { readonly outcome: "refused"; readonly fault: Fault };

/** An item's verdict with its place in the request. */
export interface Placed<Value> {
  readonly array: InputArray;
  readonly index: number;
  readonly value: Value;
}
