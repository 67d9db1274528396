import assert from "node:assert/strict";
import { accepted, type Checked } from "../../base/problem.ts";
import type { Json } from "../../base/values/plain-json.ts";
import { checkEmail, checkPhone } from "./addresses.ts";
import { countryCode } from "./attribute-rules/countries.ts";
import { genderCode } from "./attribute-rules/genders.ts";
import { languageCode } from "./attribute-rules/languages.ts";
import { checkLocation } from "./attribute-rules/locations.ts";
import { checkPushTokens } from "./attribute-rules/push-tokens.ts";
import {
  code,
  dateOfBirth,
  dateTime,
  type Rule,
  subscriptionState,
  text,
  trueOrFalse,
} from "./attribute-rules/single-values.ts";
import { checkFacebook, checkTwitter } from "./attribute-rules/social-accounts.ts";
import { timeZoneName } from "./attribute-rules/time-zones.ts";

/** Everything the server must know about one standard attribute. */
interface StandardAttribute {
  /** Which values are accepted, and what is stored for them. Null always removes the attribute. */
  readonly check: Rule;
  /**
   * Where it is stored other than among the profile's standard attributes: in a column of its own
   * and among the identifiers (`address`), or with the address it applies to (`email_state`).
   */
  readonly storedAs?: "address" | "email_state";
  /** Which value a merge keeps where both profiles have one. spec: Merge behaviour. */
  readonly merge: MergeRule;
  /** What an exported profile shows: the value, or something that `export/` derives from it. */
  readonly exported: { readonly ifAbsent: Json } | { readonly derived: DerivedField };
  /** The name in Liquid, as in `${first_name}`; null if pages cannot name it. */
  readonly liquid: string | null;
}

export type MergeRule = "kept_user" | "earlier" | "later" | "push_tokens" | "newer_consent";

/** Fields of an exported profile that are more than the stored value of an attribute. */
export type DerivedField = "email" | "phone" | "email_subscribe" | "last_coordinates";

const or = (ifAbsent: Json) => ({ ifAbsent });

/**
 * Every standard attribute: how it is checked, stored, merged, exported and named in Liquid, in the
 * order of the export. A new attribute is a new row: merge, export and Liquid follow the table, and
 * a row without one of the rules does not compile.
 *
 * Identifiers, subscription groups and control fields (`_update_existing_only`, `_merge_objects`,
 * `push_token_import`) are not values of a profile and have their rules elsewhere.
 * docs/decisions/values.md
 */
export const STANDARD_ATTRIBUTES = {
  first_name: { check: text(255), merge: "kept_user", exported: or(null), liquid: "first_name" },
  last_name: { check: text(255), merge: "kept_user", exported: or(null), liquid: "last_name" },
  email: {
    check: (_name, value) => checkEmail(value),
    storedAs: "address",
    merge: "kept_user",
    exported: { derived: "email" },
    liquid: "email_address",
  },
  phone: {
    check: (_name, value) => checkPhone(value),
    storedAs: "address",
    merge: "kept_user",
    exported: { derived: "phone" },
    liquid: "phone_number",
  },
  dob: { check: dateOfBirth, merge: "kept_user", exported: or(null), liquid: "date_of_birth" },
  gender: {
    check: code(genderCode, "is none of M, F, O, N and P, nor a word for one of them"),
    merge: "kept_user",
    exported: or(null),
    liquid: "gender",
  },
  home_city: { check: text(255), merge: "kept_user", exported: or(null), liquid: "city" },
  country: {
    check: code(countryCode, "is neither an ISO 3166-1 code nor the English name of a country"),
    merge: "kept_user",
    exported: or(null),
    liquid: "country",
  },
  language: {
    check: code(languageCode, "is neither an ISO 639-1 code nor the English name of a language"),
    merge: "kept_user",
    exported: or(null),
    liquid: "language",
  },
  time_zone: {
    check: code(timeZoneName, "is neither an IANA nor a Rails name of a time zone"),
    merge: "kept_user",
    exported: or(null),
    liquid: "time_zone",
  },
  current_location: {
    check: (_name, value) => checkLocation(value),
    merge: "kept_user",
    exported: { derived: "last_coordinates" },
    liquid: null,
  },
  email_subscribe: {
    check: subscriptionState("BAD_EMAIL_SUBSCRIPTION_STATE"),
    storedAs: "email_state",
    merge: "newer_consent",
    exported: { derived: "email_subscribe" },
    liquid: null,
  },
  push_subscribe: {
    check: subscriptionState("BAD_PUSH_SUBSCRIPTION_STATE"),
    merge: "kept_user",
    exported: or("subscribed"),
    liquid: null,
  },
  image_url: { check: text(2048), merge: "kept_user", exported: or(null), liquid: null },
  facebook: {
    check: (_name, value) => checkFacebook(value),
    merge: "kept_user",
    exported: or(null),
    liquid: null,
  },
  twitter: {
    check: (_name, value) => checkTwitter(value),
    merge: "kept_user",
    exported: or(null),
    liquid: null,
  },
  date_of_first_session: { check: dateTime, merge: "earlier", exported: or(null), liquid: null },
  date_of_last_session: { check: dateTime, merge: "later", exported: or(null), liquid: null },
  marked_email_as_spam_at: {
    check: dateTime,
    merge: "kept_user",
    exported: or(null),
    liquid: null,
  },
  email_open_tracking_disabled: {
    check: trueOrFalse,
    merge: "kept_user",
    exported: or(false),
    liquid: null,
  },
  email_click_tracking_disabled: {
    check: trueOrFalse,
    merge: "kept_user",
    exported: or(false),
    liquid: null,
  },
  push_tokens: {
    check: (_name, value) => checkPushTokens(value),
    merge: "push_tokens",
    exported: or([]),
    liquid: null,
  },
} as const satisfies Readonly<Record<string, StandardAttribute>>;

export type StandardAttributeName = keyof typeof STANDARD_ATTRIBUTES;

// A map: a table lookup by name would find `constructor`.
const table: ReadonlyMap<string, StandardAttribute> = new Map(Object.entries(STANDARD_ATTRIBUTES));

/** The row of a standard attribute; undefined for any other name. Names are case sensitive. */
export const standardAttribute = (name: string): StandardAttribute | undefined => table.get(name);

/**
 * Checks the value of a standard attribute; `name` is one, the value has passed `findUnstorable`.
 *
 * Returns the value as it is stored (codes in their one spelling, date-times as ISO 8601 with Z,
 * phone numbers in E.164), or null, which removes the attribute. An invalid value is a fault, never
 * a silent null. `now` bounds the date of birth. spec: Attributes object; docs/decisions/values.md.
 */
export function checkStandardAttribute(
  name: string,
  value: unknown,
  now: Date = new Date(),
): Checked<Json | null> {
  const row = table.get(name);
  assert(row, `no standard attribute is named ${name}`);
  return value === null ? accepted(null) : row.check(name, value, now);
}
