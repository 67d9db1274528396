import { accepted, type Checked, type Fault, refused } from "../problem.ts";
import { describeValue, printable } from "./describe-value.ts";
import { isJsonObject, type Json, type JsonObject } from "./plain-json.ts";

/** decision: as many as an attribute's array may hold. */
const maxTokens = 500;

/** A browser's push token is a URL with keys and can pass 1,000 bytes. */
const maxTokenBytes = 4096;

/**
 * Checks `push_tokens`: an array of objects with `app_id`, `token` and perhaps `device_id`, all
 * strings, a device id of 8 to 255 bytes. Faults: `BAD_PUSH_TOKEN_VALUE` (no array, no object, or
 * an unknown key), `BAD_PUSH_TOKEN_APP_ID`, `BAD_PUSH_TOKEN_STRING`, `BAD_DEVICE_ID`.
 * spec: push_tokens (public facts 2.3).
 */
export function checkPushTokens(value: unknown): Checked<Json> {
  if (!Array.isArray(value)) {
    return refused(
      "BAD_PUSH_TOKEN_VALUE",
      `'push_tokens' is not valid: ${describeValue(value)} is not an array of objects`,
    );
  }
  if (value.length > maxTokens) {
    return refused(
      "ARRAY_TOO_LONG",
      `'push_tokens' is not valid: the array has more than ${maxTokens} elements`,
    );
  }
  for (const [index, token] of value.entries()) {
    const fault = faultOfToken(token, `push_tokens[${index}]`);
    if (fault) return { fault };
  }
  return accepted(value as readonly Json[]);
}

function faultOfToken(token: unknown, path: string): Fault | undefined {
  if (!isJsonObject(token)) {
    const message = `'${path}' is not valid: ${describeValue(token)} is not an object`;
    return { code: "BAD_PUSH_TOKEN_VALUE", message };
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
  const message = `'${path}.${key}' is not valid: ${came} a string of ${minBytes} to ${maxBytes} bytes`;
  return { code, message };
}

function faultOfUnknownKey(token: JsonObject, path: string): Fault | undefined {
  const unknown = Object.keys(token).find((key) => !tokenKeys.has(key));
  if (unknown === undefined) return undefined;
  const message = `'${path}.${printable(unknown)}' is not valid: a push token has only app_id, token and device_id`;
  return { code: "BAD_PUSH_TOKEN_VALUE", message };
}

const tokenKeys = new Set(["app_id", "token", "device_id"]);
