import type { Intake } from "../base/context/workspace-settings.ts";
import { accepted, type Checked, type Fault, refused } from "../base/problem.ts";
import { printable } from "../base/values/describe-value.ts";
import { isLongerThan, type Json, JsonText } from "../base/values/plain-json.ts";
import { parseTime } from "../base/values/times.ts";
import type { PersonIdentifier } from "../people/profiles/identifiers.ts";
import type { CheckedItem } from "./check-attributes.ts";
import { checkFlag, checkOneIdentifier, type RawItem } from "./check-identity.ts";
import type { EventWork, PurchaseWork } from "./item.ts";

/** In characters. */
const LONGEST_NAME = 255;

/** spec: Limits, event properties payload with array or object values. */
const LARGEST_PROPERTIES_BYTES = 51_200;

/** spec: Event object. */
export function checkEvent(raw: RawItem, now: Date, intake: Intake): Checked<CheckedItem> {
  const occurrence = checkOccurrence(raw, now, intake);
  if ("fault" in occurrence) return occurrence;
  const name = checkName(raw.name, "name");
  if ("fault" in name) return name;
  const { identifier, creates, time, appId, properties } = occurrence.value;
  const work = { kind: "event", name: name.value, time, appId, properties } as const;
  return accepted(needingNothing(identifier, creates, work));
}

/** An item that can be written without reading stored data. */
export const needingNothing = (
  identifier: PersonIdentifier,
  creates: boolean,
  work: EventWork | PurchaseWork,
): CheckedItem => ({
  identifier,
  creates,
  reads: false,
  addresses: [],
  affectsSharers: false,
  work,
});

/** The common parts of events and purchases: who, when, in which app, with which properties. */
export function checkOccurrence(raw: RawItem, now: Date, intake: Intake) {
  const identifier = checkOneIdentifier(raw, intake);
  if ("fault" in identifier) return identifier;
  const updateOnly = checkFlag(raw, "_update_existing_only");
  if ("fault" in updateOnly) return updateOnly;
  const time = checkTime(raw.time, now);
  if ("fault" in time) return time;
  const appId = checkAppId(raw.app_id);
  if ("fault" in appId) return appId;
  const properties = checkProperties(raw.properties);
  if ("fault" in properties) return properties;
  const { kind } = identifier.value;
  return accepted({
    identifier: identifier.value,
    // spec: Event object. For a user_alias it is always update-only.
    creates: kind !== "alias" && kind !== "platform_id" && !(updateOnly.value ?? false),
    time: time.value,
    appId: appId.value,
    properties: properties.value,
  });
}

/** The name of an event or the id of a product. */
export function checkName(value: unknown, field: string): Checked<string> {
  if (typeof value !== "string" || value === "") {
    return refused("INVALID_NAME", `'${field}' is not valid: it must be a string, not empty`);
  }
  if (isLongerThan(value, LONGEST_NAME)) {
    return refused("INVALID_NAME", `'${field}' is not valid: it is longer than 255 characters`);
  }
  return accepted(value);
}

/** A time to come becomes now. decision: docs/decisions/values.md. */
function checkTime(value: unknown, now: Date): Checked<Date> {
  const time = typeof value === "string" ? parseTime(value) : undefined;
  if (!time) {
    return refused(
      "INVALID_TIME",
      "'time' is not valid: send ISO 8601, such as 2026-11-22T04:00:41Z",
    );
  }
  return accepted(time > now ? now : time);
}

function checkAppId(value: unknown): Checked<string | null> {
  if (value === undefined || value === null) return accepted(null);
  if (typeof value !== "string" || isLongerThan(value, LONGEST_NAME)) {
    return refused("INVALID_APP_ID", "'app_id' must be a string of at most 255 characters");
  }
  return accepted(value);
}

/** spec: Event properties. The rules for names hold at every depth. docs/decisions/values.md */
function checkProperties(value: unknown): Checked<Json | JsonText> {
  if (value === undefined || value === null) return accepted(null);
  // PHP writes an empty map as an empty list.
  if (Array.isArray(value) && value.length === 0) return accepted({});
  if (typeof value !== "object" || Array.isArray(value)) {
    return refused("INVALID_PROPERTIES", "Invalid 'properties' field: it must be an object");
  }
  const fault = findBadName(value as RawItem, "properties");
  if (fault) return { fault };
  if (!isNested(value)) return accepted(value as Json);
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > LARGEST_PROPERTIES_BYTES) {
    return refused("PROPERTIES_TOO_LARGE", "Invalid 'properties' field: it is larger than 50 KB");
  }
  return accepted(new JsonText(text));
}

/** How deep a value may be nested is checked before. */
function findBadName(value: unknown, path: string): Fault | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const isList = Array.isArray(value);
  for (const name in value) {
    const member = (value as RawItem)[name];
    const isBad = !isList && isBadName(name);
    // Most properties are plain values with a plain name: no path is written down for those.
    if (!isBad && (member === null || typeof member !== "object")) continue;
    const place = isList ? `${path}[${name}]` : `${path}.${name}`;
    if (isBad) {
      const rule = "a property name has 1 to 255 characters and no leading '$'";
      const message = `Invalid 'properties' field: '${printable(place, 300)}': ${rule}`;
      return { code: "INVALID_PROPERTIES", message };
    }
    const fault = findBadName(member, place);
    if (fault) return fault;
  }
  return undefined;
}

const isBadName = (name: string): boolean =>
  name === "" || name.startsWith("$") || isLongerThan(name, LONGEST_NAME);

function isNested(object: object): boolean {
  for (const name in object) {
    const member = (object as RawItem)[name];
    if (member !== null && typeof member === "object") return true;
  }
  return false;
}
