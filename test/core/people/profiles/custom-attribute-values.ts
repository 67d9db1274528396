import assert from "node:assert/strict";
import type { Checked, Fault } from "../../../../src/core/base/problem.ts";
import type { Json, JsonObject } from "../../../../src/core/base/values/plain-json.ts";
import {
  type AttributeOperation,
  applyOperation,
  checkCustomAttribute,
} from "../../../../src/core/people/profiles/custom-attributes.ts";

/** Common parts of the tests of custom attributes: ways to send a value, and values to send. */

export const parsed = (text: string): Json => JSON.parse(text);

export function operationOf(value: unknown, mergeObjects = false): AttributeOperation {
  const outcome = checkCustomAttribute("a", value, mergeObjects);
  assert.ok("value" in outcome, JSON.stringify(outcome));
  return outcome.value;
}

export const faultOf = (outcome: Checked<unknown>): Fault | undefined =>
  "fault" in outcome ? outcome.fault : undefined;

/** Sends `value` for an attribute that holds `current`; undefined is an absent attribute. */
export function send(
  current: Json | undefined,
  value: Json,
  mergeObjects = false,
): Json | undefined {
  const outcome = applyOperation(current, operationOf(value, mergeObjects));
  assert.ok("value" in outcome, JSON.stringify(outcome));
  return outcome.value;
}

export const refusal = (current: Json | undefined, value: Json, mergeObjects = false) =>
  faultOf(applyOperation(current, operationOf(value, mergeObjects)))?.code;

/** A value in a form for the name of a test. */
export const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 70 ? `${text.slice(0, 70)}… (${text.length})` : text;
};

/** An object of exactly this many bytes of JSON: `{"t":["xxx…","xxx…", …]}`. */
export function objectOfBytes(bytes: number): JsonObject {
  const full = Math.floor((bytes - 10) / 100);
  return { t: [...Array(full).fill("x".repeat(97)), "x".repeat(bytes - 10 - full * 100)] };
}

export const maxBytes = 102_400;
export const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
