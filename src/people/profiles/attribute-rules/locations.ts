import { accepted, type Checked } from "../../../base/problem.ts";
import { describeValue, printable } from "../../../base/values/describe-value.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import {
  isJsonObject,
  isLongerThan,
  type Json,
  type JsonObject,
} from "../../../base/values/plain-json.ts";

/** Besides longitude and latitude a position may carry its altitude, accuracy and the like. */
const maxKeys = 20;

/**
 * Checks `current_location`: an object with `longitude` (-180 to 180) and `latitude` (-90 to 90) in
 * degrees; other keys are kept as long as they hold numbers. Fault `BAD_LOCATION_UPDATE`.
 * docs/decisions/values.md
 */
export function checkLocation(value: unknown): Checked<Json> {
  if (!isJsonObject(value)) {
    return bad(`${describeValue(value)} is not an object with longitude and latitude`);
  }
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
