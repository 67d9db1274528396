import { accepted, type Checked, type Fault } from "../../../base/problem.ts";
import { describeValue, listed, printable } from "../../../base/values/describe-value.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  withoutNulls,
} from "../../../base/values/plain-json.ts";

/** As many elements as the array of a custom attribute may hold. */
const maxTokens = 500;

/** A browser's push token is a URL with keys and can pass 1,000 bytes. */
const maxTokenBytes = 4096;

/**
 * Checks `push_tokens`: an array of objects with `app_id`, `token` and optionally `device_id`, all
 * strings, a device id of 8 to 255 bytes. Faults: `BAD_PUSH_TOKEN_VALUE` (no array, no object, or
 * an unknown key), `BAD_PUSH_TOKEN_APP_ID`, `BAD_PUSH_TOKEN_STRING`, `BAD_DEVICE_ID`.
 */
export function checkPushTokens(value: unknown): Checked<Json> {
  if (!Array.isArray(value)) {
    const reason = `${describeValue(value)} is not an array of objects`;
    return refusedAt("push_tokens", "BAD_PUSH_TOKEN_VALUE", reason);
  }
  if (value.length > maxTokens) {
    const reason = `the array has ${value.length} elements, of at most ${maxTokens}`;
    return refusedAt("push_tokens", "ARRAY_TOO_LONG", reason);
  }
  const tokens: Json[] = [];
  for (const [index, sent] of value.entries()) {
    const token = isJsonObject(sent) ? withoutNulls(sent) : sent;
    const fault = faultOfToken(token, `push_tokens[${index}]`);
    if (fault) return { fault };
    tokens.push(token);
  }
  return accepted(tokens);
}

function faultOfToken(token: unknown, path: string): Fault | undefined {
  if (!isJsonObject(token)) {
    const reason = `${describeValue(token)} is not an object`;
    return refusedAt(path, "BAD_PUSH_TOKEN_VALUE", reason).fault;
  }
  return (
    faultOfText(token, "app_id", path, "BAD_PUSH_TOKEN_APP_ID", 1, 255) ??
    faultOfText(token, "token", path, "BAD_PUSH_TOKEN_STRING", 1, maxTokenBytes) ??
    (Object.hasOwn(token, "device_id")
      ? faultOfText(token, "device_id", path, "BAD_DEVICE_ID", 8, 255)
      : undefined) ??
    faultOfUnknownKey(token, path)
  );
}

function faultOfText(
  token: JsonObject,
  key: string,
  path: string,
  code: string,
  minBytes: number,
  maxBytes: number,
): Fault | undefined {
  const text = Object.hasOwn(token, key) ? token[key] : undefined;
  const bytes = typeof text === "string" ? Buffer.byteLength(text) : -1;
  if (bytes >= minBytes && bytes <= maxBytes) return undefined;
  const came = text === undefined ? "it is absent, not" : `${describeValue(text)} is not`;
  const reason = `${came} a string of ${minBytes} to ${maxBytes} bytes`;
  return refusedAt(`${path}.${key}`, code, reason).fault;
}

function faultOfUnknownKey(token: JsonObject, path: string): Fault | undefined {
  const unknown = Object.keys(token).find((key) => !tokenKeys.has(key));
  if (unknown === undefined) return undefined;
  const reason = `'${printable(unknown)}' is none of ${listed([...tokenKeys])}`;
  return refusedAt(path, "BAD_PUSH_TOKEN_VALUE", reason).fault;
}

const tokenKeys = new Set(["app_id", "token", "device_id"]);

export interface PushToken {
  readonly [member: string]: Json;
  readonly app_id: string;
  readonly token: string;
}

/**
 * The tokens of two lists, the first list's first, each once. If both profiles have a token,
 * `winner` wins member by member; members that only the other one has, such as the device, stay.
 * docs/decisions/push-tokens.md
 */
export function unitePushTokens(
  first: readonly PushToken[],
  second: readonly PushToken[],
  winner: "first" | "second",
): PushToken[] {
  const tokens = new Map(first.map((token) => [keyOf(token), token]));
  for (const token of second) {
    const known = tokens.get(keyOf(token));
    tokens.set(keyOf(token), winner === "first" ? { ...token, ...known } : { ...known, ...token });
  }
  return [...tokens.values()];
}

/**
 * The tokens of a profile after a request adds some: sent values replace stored ones. A token
 * without a device gets its own device id.
 */
export const addPushTokens = (
  stored: readonly PushToken[],
  sent: readonly PushToken[],
  newId: () => string,
): PushToken[] =>
  unitePushTokens(stored, sent, "second").map((token) =>
    token.device_id === undefined ? { ...token, device_id: newId() } : token,
  );

const keyOf = ({ app_id, token }: PushToken): string => `${app_id} ${token}`;
