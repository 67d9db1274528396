import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js/max";
import email from "validator/lib/isEmail.js";
import { accepted, type Checked, type Fault, refused } from "../../base/problem.ts";
import { describeValue } from "../../base/values/describe-value.ts";
import { refusedAt } from "../../base/values/findings.ts";
import { findUnseen } from "../../base/values/unseen.ts";

const LONGEST_EMAIL = 254;

/** In the words that clients match. */
const NO_EMAIL = "The value provided for the 'email' field is not a valid email.";

/**
 * Checks a new email address; returns it unchanged. Fault `EMAIL_BAD_FORMAT`. At most 254 characters, the longest that
 * a mail server must accept; letters beyond ASCII are accepted on both sides of the @, characters that show nothing are
 * not (docs/decisions/addresses.md).
 */
export function checkEmail(value: unknown): Checked<string> {
  const fault = typeof value === "string" ? unseenIn(value) : undefined;
  return fault ? { fault } : checkStoredEmail(value);
}

/** The fault of an address with a character that shows nothing, which it names; undefined without one. */
export function unseenIn(address: string): Fault | undefined {
  const letter = address.length <= LONGEST_EMAIL ? findUnseen(address) : undefined;
  if (letter === undefined) return undefined;
  return {
    code: "EMAIL_BAD_FORMAT",
    message: `${NO_EMAIL} It has ${letter}, which is not allowed.`,
  };
}

/** Names such a character in a sentence about an address: `: it has U+2060`; empty without one. */
export function unseenPart(address: unknown): string {
  const letter =
    typeof address === "string" ? findUnseen(address.slice(0, LONGEST_EMAIL)) : undefined;
  return letter === undefined ? "" : `: it has ${letter}, which is not allowed`;
}

/** Checks an address that may be stored already: earlier versions accepted characters that show nothing. */
export function checkStoredEmail(value: unknown): Checked<string> {
  // The library throws at a lone surrogate.
  const isEmail =
    typeof value === "string" &&
    value.length <= LONGEST_EMAIL &&
    value.isWellFormed() &&
    email.default(value, { allow_utf8_local_part: true });
  return isEmail ? accepted(value) : refused("EMAIL_BAD_FORMAT", NO_EMAIL);
}

/**
 * Checks a phone number, as an attribute and as an identifier; returns it in E.164 form. Fault
 * `INVALID_PHONE`. The number begins with + and the country's code; only digits are read as if the
 * + had been left out. Extensions are refused: E.164 has none. Only numbers of assigned ranges are
 * valid, checked with the library's complete data: its smaller sets accept numbers that do not
 * exist and refuse landlines. spec: User identifiers.
 *
 * @param country the ISO 3166-1 code of a country whose local numbers are accepted too.
 */
export function checkPhone(value: unknown, country?: string): Checked<string> {
  const number = typeof value === "string" ? readPhone(value, country) : undefined;
  return number?.isValid() && number.ext === undefined
    ? accepted(number.number)
    : refusedAt("phone", "INVALID_PHONE", `${describeValue(value)} ${phoneComplaint}`);
}

/** A plus sign, the code of a country, and seven to fifteen digits in all. */
const E164 = /^\+[1-9]\d{6,14}$/;

/** Whether this is a phone number in E.164, existing or not. */
export const isE164 = (value: unknown): value is string =>
  typeof value === "string" && E164.test(value);

/**
 * Mexican numbers of mobile phones had a 1 after the code of the country until 2019, and messengers still write it:
 * both spellings are one number.
 */
const FORMER_MEXICAN = /^\+521(?=\d{10}$)/;

/** A number in E.164 as it is stored: in its present spelling. */
export const presentPhone = (number: string): string => number.replace(FORMER_MEXICAN, "+52");

/** @param text begins with +. */
function readE164(text: string) {
  const number = parsePhoneNumberFromString(text, { extract: false });
  if (!number || number.ext !== undefined || !FORMER_MEXICAN.test(number.number)) return number;
  return parsePhoneNumberFromString(presentPhone(number.number), { extract: false });
}

function readPhone(text: string, country: string | undefined) {
  if (text.startsWith("+")) return readE164(text);
  if (country !== undefined) {
    const defaultCountry = country as CountryCode;
    const local = parsePhoneNumberFromString(text, { extract: false, defaultCountry });
    if (local?.isValid()) return local;
  }
  if (!isInternational(text)) return undefined;
  return readE164(`+${text}`);
}

/**
 * Whether bare digits can be read as a number with its country code. Ten digits that are a North
 * American number without one would otherwise become a foreign number of another person.
 */
const isInternational = (digits: string): boolean =>
  /^\d+$/.test(digits) &&
  !(digits.length === 10 && parsePhoneNumberFromString(digits, "US")?.isValid());

const phoneComplaint = "is not an existing number with its country code, such as '+14155552671'";
