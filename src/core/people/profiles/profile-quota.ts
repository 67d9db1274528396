import type { Fault } from "../../base/problem.ts";
import { type Json, jsonByteLength } from "../../base/values/plain-json.ts";
import { attributeOf, type Person } from "./people.ts";

/**
 * Counts new values of custom attributes against the quota of a profile (`profile_max_bytes`). For a profile
 * that was not read, the update itself checks the quota (`updateProfiles`). A change that makes the
 * profile smaller is always accepted. docs/decisions/quotas.md
 *
 * @param person undefined for a profile that will be created.
 * @returns the size afterwards, undefined if it is unknown; or the fault `PROFILE_TOO_LARGE`.
 */
export function countAgainstQuota(
  person: Person | undefined,
  changes: readonly (readonly [name: string, value: Json])[],
  mostBytes: number,
): number | undefined | Fault {
  const before = person ? sizeOf(person) : EMPTY_BYTES;
  if (before === undefined) return undefined;
  // The last value of a name counts.
  const values = new Map(changes);
  let after = before;
  for (const [name, value] of values) {
    after += bytesOf(name, value);
    after -= bytesOf(name, person && attributeOf(person, "custom", name));
  }
  return after > mostBytes && after > before ? tooLarge(mostBytes) : after;
}

const EMPTY_BYTES = jsonByteLength({});

function sizeOf(person: Person): number | undefined {
  if (person.customBytes !== undefined) return person.customBytes;
  if (person.isNew) return EMPTY_BYTES;
  if (!person.stored) return undefined;
  // Computed once: each item of a request needs it, and a profile may have a megabyte.
  person.customBytes = jsonByteLength(person.stored.customAttributes);
  return person.customBytes;
}

/** Includes the colon and the comma that JSON puts around them. */
const bytesOf = (name: string, value: Json | undefined): number =>
  value === undefined || value === null ? 0 : jsonByteLength(name) + jsonByteLength(value) + 2;

const tooLarge = (mostBytes: number): Fault => ({
  code: "PROFILE_TOO_LARGE",
  message:
    `the custom attributes of this user would take more than ${mostBytes} bytes, the workspace's ` +
    "'profile_max_bytes'; remove some first",
});
