import assert from "node:assert/strict";
import { accepted, type Checked } from "../../base/problem.ts";
import { describeValue, printable } from "../../base/values/describe-value.ts";
import { refusedAt } from "../../base/values/findings.ts";
import {
  isJsonObject,
  isLongerThan,
  type Json,
  type JsonObject,
  withoutNulls,
} from "../../base/values/plain-json.ts";
import { checkEmail, checkPhone } from "./addresses.ts";
import { countryCode } from "./attribute-rules/countries.ts";
import { languageCode } from "./attribute-rules/languages.ts";
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

/** In addition to longitude and latitude, a position may carry altitude, accuracy and the like. */
const maxKeys = 20;

/**
 * Checks `current_location`: an object with `longitude` (-180 to 180) and `latitude` (-90 to 90) in
 * degrees; other keys are kept as long as they hold numbers. Fault `BAD_LOCATION_UPDATE`.
 * docs/decisions/values.md
 */
function checkLocation(sent: unknown): Checked<Json> {
  if (!isJsonObject(sent)) {
    return bad(`${describeValue(sent)} is not an object with longitude and latitude`);
  }
  const value = withoutNulls(sent);
  const complaint =
    complaintAboutDegrees(value, "longitude", 180) ??
    complaintAboutDegrees(value, "latitude", 90) ??
    complaintAboutKeys(value);
  return complaint === undefined ? accepted(value) : bad(complaint);
}

function complaintAboutDegrees(location: JsonObject, key: string, limit: number) {
  const degrees = Object.hasOwn(location, key) ? location[key] : undefined;
  const isInRange = typeof degrees === "number" && Math.abs(degrees) <= limit;
  if (isInRange) return undefined;
  const came = degrees === undefined ? "absent" : describeValue(degrees);
  return `'${key}' is ${came}, not a number from -${limit} to ${limit}`;
}

function complaintAboutKeys(location: JsonObject): string | undefined {
  const keys = Object.keys(location);
  if (keys.length > maxKeys) return `it has more than ${maxKeys} keys`;
  if (keys.some((key) => isLongerThan(key, 255))) return "a key has more than 255 characters";
  const other = keys.find((key) => typeof location[key] !== "number");
  return other === undefined ? undefined : `'${printable(other)}' is not a number`;
}

const bad = (reason: string) => refusedAt("current_location", "BAD_LOCATION_UPDATE", reason);

/**
 * The one-letter code of a gender, undefined if the text names none: M, F, O (other), N (not
 * applicable) or P (prefer not to say). Takes the letter or a common English word for it, in any
 * case. "Unknown" is null, which a client says by sending null. docs/decisions/values.md
 */
function genderCode(text: string): string | undefined {
  return text.length > 1
    ? codesByWord.get(text.toLowerCase().replaceAll(/[-_ ]+/g, " "))
    : codes[text.toUpperCase()];
}

const codes: Readonly<Record<string, string>> = { M: "M", F: "F", O: "O", N: "N", P: "P" };

const words = {
  M: ["male", "man", "men", "boy"],
  F: ["female", "woman", "women", "girl"],
  O: ["other", "diverse", "divers", "non binary", "nonbinary", "genderqueer"],
  N: ["not applicable"],
  P: ["prefer not to say", "prefer not to answer", "prefer not to disclose", "undisclosed"],
};

const codesByWord = new Map(
  Object.entries(words).flatMap(([code, named]) => named.map((word) => [word, code] as const)),
);

interface StandardAttribute {
  /** The accepted values, and the stored form of each. Null always removes the attribute. */
  readonly check: Rule;
  /**
   * Where it is stored if not among the profile's standard attributes: in its own column and among
   * the identifiers (`address`), or with the address it applies to (`email_state`).
   */
  readonly storedAs?: "address" | "email_state";
  /** Which value a merge keeps where both profiles have one. spec: Merge behaviour. */
  readonly merge: MergeRule;
  /** The exported form: the value itself, or one that `export/` derives from it. */
  readonly exported: { readonly ifAbsent: Json } | { readonly derived: DerivedField };
  /** The name in Liquid, as in `${first_name}`; null if pages cannot name it. */
  readonly liquid: string | null;
}

export type MergeRule = "kept_user" | "earlier" | "later" | "push_tokens" | "newer_consent";

/** Fields of an exported profile that are more than the stored value of an attribute. */
export type DerivedField = "email" | "phone" | "email_subscribe" | "last_coordinates";

const or = (ifAbsent: Json) => ({ ifAbsent });

/** The rules of most attributes: a merge keeps the value of the kept user, and the export has the value itself. */
const usual = <const Liquid extends string | null>(
  check: Rule,
  liquid: Liquid,
  ifAbsent: Json = null,
) => ({ check, merge: "kept_user", exported: or(ifAbsent), liquid }) as const;

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
  first_name: usual(text(255), "first_name"),
  last_name: usual(text(255), "last_name"),
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
  dob: usual(dateOfBirth, "date_of_birth"),
  gender: usual(
    code(genderCode, "is none of M, F, O, N and P, nor a word for one of them"),
    "gender",
  ),
  home_city: usual(text(255), "city"),
  country: usual(
    code(countryCode, "is neither an ISO 3166-1 code nor the English name of a country"),
    "country",
  ),
  language: usual(
    code(languageCode, "is neither an ISO 639-1 code nor the English name of a language"),
    "language",
  ),
  time_zone: usual(
    code(timeZoneName, "is neither an IANA nor a Rails name of a time zone"),
    "time_zone",
  ),
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
  push_subscribe: usual(subscriptionState("BAD_PUSH_SUBSCRIPTION_STATE"), null, "subscribed"),
  image_url: usual(text(2048), null),
  facebook: usual((_name, value) => checkFacebook(value), null),
  twitter: usual((_name, value) => checkTwitter(value), null),
  date_of_first_session: { check: dateTime, merge: "earlier", exported: or(null), liquid: null },
  date_of_last_session: { check: dateTime, merge: "later", exported: or(null), liquid: null },
  marked_email_as_spam_at: usual(dateTime, null),
  email_open_tracking_disabled: usual(trueOrFalse, null, false),
  email_click_tracking_disabled: usual(trueOrFalse, null, false),
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
