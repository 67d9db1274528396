import assert from "node:assert/strict";
import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import validator from "validator";
import { accepted, type Checked, refused } from "../problem.ts";
import { countryCode } from "./attribute-rules/countries.ts";
import { describeValue, listed } from "./attribute-rules/describe-value.ts";
import { refusedAt } from "./attribute-rules/findings.ts";
import { genderCode } from "./attribute-rules/genders.ts";
import { languageCode } from "./attribute-rules/languages.ts";
import { checkLocation } from "./attribute-rules/locations.ts";
import { checkPushTokens } from "./attribute-rules/push-tokens.ts";
import { checkFacebook, checkTwitter } from "./attribute-rules/social-accounts.ts";
import { timeZoneName } from "./attribute-rules/time-zones.ts";
import { isLongerThan, type Json } from "./plain-json.ts";
import { parseAttributeTime } from "./times.ts";

/** Takes the attribute's name, a value that is not null, and the present. */
type Rule = (name: string, value: unknown, now: Date) => Checked<Json>;

/**
 * Every standard attribute and its rule. Identifiers, subscription groups and the control fields
 * (`_update_existing_only`, `_merge_objects`, `push_token_import`) are no values of a profile and
 * have their rules elsewhere. decision: standard attributes.
 */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["first_name", textOf(255)],
  ["last_name", textOf(255)],
  ["email", (_name, value) => checkEmail(value)],
  ["phone", (_name, value) => checkPhone(value)],
  ["email_subscribe", subscriptionState("BAD_EMAIL_SUBSCRIPTION_STATE")],
  ["push_subscribe", subscriptionState("BAD_PUSH_SUBSCRIPTION_STATE")],
  ["gender", codeFor(genderCode, "is none of M, F, O, N and P, nor a word for one of them")],
  ["dob", checkDateOfBirth],
  [
    "country",
    codeFor(countryCode, "is neither an ISO 3166-1 code nor the English name of a country"),
  ],
  [
    "language",
    codeFor(languageCode, "is neither an ISO 639-1 code nor the English name of a language"),
  ],
  ["home_city", textOf(255)],
  ["time_zone", codeFor(timeZoneName, "is neither an IANA nor a Rails name of a time zone")],
  ["current_location", (_name, value) => checkLocation(value)],
  ["date_of_first_session", checkDateTime],
  ["date_of_last_session", checkDateTime],
  ["marked_email_as_spam_at", checkDateTime],
  ["email_open_tracking_disabled", checkBoolean],
  ["email_click_tracking_disabled", checkBoolean],
  ["image_url", textOf(2048)],
  ["facebook", (_name, value) => checkFacebook(value)],
  ["twitter", (_name, value) => checkTwitter(value)],
  ["push_tokens", (_name, value) => checkPushTokens(value)],
]);

/** Whether a key of an attributes object is a standard attribute; names are case sensitive. */
export const isStandardAttribute = (name: string): boolean => rules.has(name);

/**
 * Checks the value of a standard attribute; `name` is one (`isStandardAttribute`), the value has
 * passed `findUnstorable`.
 *
 * Returns the value as it is stored (codes in their one spelling, date-times as ISO 8601 with Z,
 * phone numbers in E.164), or null, which removes the attribute. A value that cannot be taken is a
 * fault, never a silent null. `now` bounds the date of birth.
 * spec: Attributes object; decision: nothing is dropped in silence.
 */
export function checkStandardAttribute(
  name: string,
  value: unknown,
  now: Date = new Date(),
): Checked<Json | null> {
  const rule = rules.get(name);
  assert(rule, `no standard attribute is named ${name}`);
  return value === null ? accepted(null) : rule(name, value, now);
}

/**
 * Checks an email address, as an attribute and as an identifier; returns it as it was given.
 * Fault `EMAIL_BAD_FORMAT`, in the words that clients know. At most 254 characters, the longest
 * that a mail server must accept; letters beyond ASCII are taken on both sides of the @.
 * decision: standard attributes, email.
 */
export function checkEmail(value: unknown): Checked<string> {
  // The library throws at a lone surrogate.
  const isEmail =
    typeof value === "string" &&
    value.length <= 254 &&
    value.isWellFormed() &&
    validator.isEmail(value, { allow_utf8_local_part: true });
  return isEmail
    ? accepted(value)
    : refused("EMAIL_BAD_FORMAT", "The value provided for the 'email' field is not a valid email.");
}

/**
 * Checks a phone number, as an attribute and as an identifier; returns it in E.164 form. Fault
 * `INVALID_PHONE`. The number begins with + and the country's code; digits alone are read as if
 * the + had been left out. Extensions are refused, for E.164 has none. Only numbers of assigned
 * ranges are valid, checked with the library's complete data: its smaller sets pass numbers that
 * do not exist, or refuse landlines. spec: User identifiers; decision: digits without a +.
 */
export function checkPhone(value: unknown): Checked<string> {
  const text = typeof value === "string" && isInternational(value) ? `+${value}` : value;
  const number =
    typeof text === "string" && text.startsWith("+")
      ? parsePhoneNumberFromString(text, { extract: false })
      : undefined;
  return number?.isValid() && number.ext === undefined
    ? accepted(number.number)
    : refusedAt("phone", "INVALID_PHONE", `${describeValue(value)} ${phoneComplaint}`);
}

/**
 * Whether bare digits can be read as a number with its country code. Ten digits that are a North
 * American number without one would otherwise become somebody else's abroad.
 */
const isInternational = (digits: string): boolean =>
  /^\d+$/.test(digits) &&
  !(digits.length === 10 && parsePhoneNumberFromString(digits, "US")?.isValid());

const phoneComplaint = "is not an existing number with its country code, such as '+14155552671'";

const invalid = (name: string, reason: string) => refusedAt(name, "INVALID_ATTRIBUTE", reason);

function textOf(maxCharacters: number): Rule {
  return (name, value) => {
    if (typeof value !== "string") return invalid(name, `${describeValue(value)} is not a string`);
    return isLongerThan(value, maxCharacters)
      ? invalid(name, `the string has more than ${maxCharacters} characters`)
      : accepted(value);
  };
}

function codeFor(read: (text: string) => string | undefined, complaint: string): Rule {
  return (name, value) => {
    const code = typeof value === "string" ? read(value) : undefined;
    return code === undefined
      ? invalid(name, `${describeValue(value)} ${complaint}`)
      : accepted(code);
  };
}

const subscriptionStates = ["opted_in", "subscribed", "unsubscribed"];

function subscriptionState(code: string): Rule {
  return (name, value) =>
    typeof value === "string" && subscriptionStates.includes(value)
      ? accepted(value)
      : refusedAt(name, code, `${describeValue(value)} is none of ${listed(subscriptionStates)}`);
}

/**
 * A real day from 1880 to tomorrow, for it may be tomorrow already where the person lives. Takes
 * `YYYY-MM-DD` and also `MM/DD/YYYY`, which existing clients send; both are kept as the first.
 */
function checkDateOfBirth(name: string, value: unknown, now: Date): Checked<Json> {
  const isDate = typeof value === "string" && /^\d{4}-\d\d-\d\d$|^\d\d?\/\d\d?\/\d{4}$/.test(value);
  const date = isDate ? parseAttributeTime(value) : undefined;
  const tomorrow = now.getTime() + 24 * 60 * 60 * 1000;
  return date && date.getUTCFullYear() >= 1880 && date.getTime() <= tomorrow
    ? accepted(date.toISOString().slice(0, 10))
    : invalid(name, `${describeValue(value)} is not a day from 1880 to today, as YYYY-MM-DD`);
}

function checkDateTime(name: string, value: unknown): Checked<Json> {
  const time = typeof value === "string" ? parseAttributeTime(value) : undefined;
  return time
    ? accepted(time.toISOString())
    : invalid(name, `${describeValue(value)} is not an ISO 8601 date-time`);
}

function checkBoolean(name: string, value: unknown): Checked<Json> {
  return typeof value === "boolean"
    ? accepted(value)
    : invalid(name, `${describeValue(value)} is neither true nor false`);
}
