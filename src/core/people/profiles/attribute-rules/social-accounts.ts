import { accepted, type Checked } from "../../../base/problem.ts";
import { describeValue, listed, printable } from "../../../base/values/describe-value.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import {
  isJsonObject,
  isLongerThan,
  type Json,
  jsonByteLength,
  withoutNulls,
} from "../../../base/values/plain-json.ts";

/** A field of an account: its test, and how a sentence describes it. */
interface Field {
  readonly takes: (value: Json) => boolean;
  readonly words: string;
}

const isShortText = (value: Json): boolean =>
  typeof value === "string" && !isLongerThan(value, 255);

const text: Field = { takes: isShortText, words: "a string of at most 255 characters" };

const count: Field = {
  takes: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  words: "an integer from 0",
};

const texts: Field = {
  takes: (value) => Array.isArray(value) && value.every(isShortText),
  words: "an array of strings of at most 255 characters",
};

/** Accounts made since 2010 have ids beyond 2^53, which JSON numbers do not carry exactly. */
const numericId: Field = {
  takes: (value) => count.takes(value) || (typeof value === "string" && /^\d{1,20}$/.test(value)),
  words: "an integer, as a number or as a string of digits",
};

const facebookFields = new Map([
  ["id", text],
  ["likes", texts],
  ["num_friends", count],
]);

const twitterFields = new Map([
  ["id", numericId],
  ["screen_name", text],
  ["followers_count", count],
  ["friends_count", count],
  ["statuses_count", count],
]);

/** As large as a nested object. */
const maxBytes = 102_400;

/** Checks `facebook`: `id`, `likes`, `num_friends`, all optional. */
export const checkFacebook = (value: unknown): Checked<Json> =>
  checkAccount("facebook", value, facebookFields);

/**
 * Checks `twitter`: `id`, `screen_name`, `followers_count`, `friends_count` and `statuses_count`,
 * all optional.
 */
export const checkTwitter = (value: unknown): Checked<Json> =>
  checkAccount("twitter", value, twitterFields);

function checkAccount(
  name: string,
  sent: unknown,
  fields: ReadonlyMap<string, Field>,
): Checked<Json> {
  if (!isJsonObject(sent)) return invalid(name, `${describeValue(sent)} is not an object`);
  const value = withoutNulls(sent);
  for (const [key, part] of Object.entries(value)) {
    const field = fields.get(key);
    if (!field) {
      const known = listed([...fields.keys()]);
      return invalid(`${name}.${printable(key)}`, `the object takes only ${known}`);
    }
    if (!field.takes(part)) {
      return invalid(`${name}.${key}`, `${describeValue(part)} is not ${field.words}`);
    }
  }
  return jsonByteLength(value) > maxBytes
    ? invalid(name, `it takes more than ${maxBytes} bytes`)
    : accepted(value);
}

const invalid = (place: string, reason: string) => refusedAt(place, "INVALID_ATTRIBUTE", reason);
