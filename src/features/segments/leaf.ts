import type { EmailState } from "../../core/base/values/email-states.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import type { FilterPath } from "./filter-path.ts";
import type { Bounds, Values } from "./sql.ts";

/** A value as SQL: an expression of the type jsonb, which is null if there is none. */
export type JsonSql = string;

export interface ValueTest {
  /** @param isPlain whether the value, if it is a time, is written in UTC with milliseconds. */
  sql(value: JsonSql, values: Values, isPlain: boolean): Bounds;
  /** Whether a user without the value passes it. */
  readonly isNegative?: boolean;
  /** The words after the subject in a sentence: `is at least 5`. */
  readonly words: string;
}

/** Data of a user's address that the program reads: it is in another bucket than the profile. */
export interface Address {
  /** Undefined if none was set. */
  readonly state: EmailState | undefined;
  readonly hasBounced: boolean;
}

/** How to decide about a user what SQL leaves open. */
export interface OpenQuestion {
  /** An expression of type jsonb that reads the needed part of the profile. */
  json(values: Values): string;
  holds(value: Json | undefined, address: Address, now: Date): boolean;
}

/** A condition on one subject, as SQL and in words. */
export interface Leaf {
  /** Over `profiles p`. */
  sql(values: Values): Bounds;
  /** A part of a sentence, such as `plan is "pro"`. */
  readonly words: string;
  /** Whether SQL reads rows of other tables. */
  readonly looksUp?: true;
  /** The rows that it reads and that expire by retention; summaries are kept. */
  readonly readsExpiring?: "events" | "purchases";
  /** Present if `sql` may leave it open. */
  readonly open?: OpenQuestion;
}

/** Everything that a filter may refer to in its workspace. */
export interface FilterScope {
  readonly groups: ReadonlyMap<string, { readonly name: string; readonly channel: string }>;
  readonly apps: ReadonlyMap<string, { readonly name: string; readonly platform: string }>;
  /** The filters of other segments by id, as they are stored. */
  readonly segments: ReadonlyMap<string, { readonly name: string; readonly filter: unknown }>;
}

export interface Subject {
  /**
   * @param value the subject's own value, such as the name of an event.
   * @param rest the other members of the leaf.
   * @throws Problem that names the place.
   */
  read(
    value: unknown,
    rest: Readonly<Record<string, unknown>>,
    path: FilterPath,
    scope: FilterScope,
  ): Leaf;
}

/** Conditions that a row of another table belongs to `profiles p`. */
export const itsRows = (alias: string): string =>
  `${alias}.workspace_id = p.workspace_id and ${alias}.profile_id = p.profile_id and ${alias}.bucket = p.bucket`;
