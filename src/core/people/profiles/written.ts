import type { CallRecord } from "../../base/context/context.ts";
import type { Json, JsonText } from "../../base/values/plain-json.ts";
import type { Alias } from "./identifiers.ts";
import type { PeopleChanges } from "./people.ts";
import type { NewProfile, ProfileRow } from "./store.ts";

/**
 * The writes of a transaction about people, for everything that follows a change
 * (docs/decisions/read-compute-write.md).
 */
export interface Written {
  /** Users who were created and updated; an update has the row that was read, if one was. */
  readonly people?: PeopleChanges;
  readonly events?: readonly Occurrence<EventDetails>[];
  readonly purchases?: readonly Occurrence<PurchaseDetails>[];
  /** States that have changed. */
  readonly subscriptions?: {
    readonly groupStates: readonly (StateChange & {
      readonly profileId: string;
      readonly groupId: string;
    })[];
    readonly emailStates: readonly (StateChange & {
      readonly email: string;
      readonly spelling: string | null;
    })[];
  };
  /** Users who are in none of the others, so that a change can name them. */
  readonly names?: readonly NamedUser[];
  /** Users who were merged, identified, renamed and deleted, with the rows before and after. */
  readonly identities?: {
    readonly profiles: {
      readonly created: readonly NewProfile[];
      readonly replaced: readonly NewProfile[];
      readonly touched: readonly ProfileRow[];
      readonly removedIds: readonly string[];
      /** Merged profiles whose ids no longer identify anyone. */
      readonly forgottenIds: readonly string[];
    };
    readonly changes: readonly IdentityChange[];
  };
  /** Whether an external_id has left a user who still exists. */
  readonly takesExternalIds?: boolean;
}

/** One occurrence, as intake checked it. */
export interface Occurrence<Work> {
  readonly id: string;
  readonly profileId: string;
  readonly work: Work;
}

export interface EventDetails {
  readonly name: string;
  readonly time: Date;
  readonly appId: string | null;
  readonly properties: Json | JsonText;
}

export interface PurchaseDetails extends Omit<EventDetails, "name"> {
  readonly productId: string;
  readonly currency: string;
  readonly price: number;
  readonly quantity: number;
}

interface StateChange {
  /** Null if there is none any more: after the undo of a merge. */
  readonly state: string | null;
  /** Null if there was none. */
  readonly before: string | null;
  readonly context: CallRecord;
}

/** The names of a user. */
export type NamedUser = {
  readonly id: string;
  readonly externalId?: string | null | undefined;
  readonly aliases?: readonly Alias[];
  readonly email?: string | null | undefined;
};

/** How a report, the audit and the change feed name a user, at the time of the change. */
export interface Name {
  readonly platformId: string;
  readonly externalId: string | null;
}

export type IdentityChange =
  | {
      readonly kind: "merge";
      readonly kept: Name;
      readonly merged: Name;
      /** The data that moves to the kept user. */
      readonly extent: string;
    }
  /** The merged user is back. */
  | { readonly kind: "unmerge"; readonly kept: Name; readonly merged: Name }
  | { readonly kind: "identify" | "delete"; readonly user: Name };
