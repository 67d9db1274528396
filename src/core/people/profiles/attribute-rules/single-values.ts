import { DAY_MS } from "../../../base/clock.ts";
import { accepted, type Checked } from "../../../base/problem.ts";
import { describeValue, listed } from "../../../base/values/describe-value.ts";
import { EMAIL_STATES, type EmailState } from "../../../base/values/email-states.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import { isLongerThan, type Json } from "../../../base/values/plain-json.ts";
import { parseAttributeTime } from "../../../base/values/times.ts";

/** Takes an attribute's name, a value that is not null, and the current time. */
export type Rule = (name: string, value: unknown, now: Date) => Checked<Json>;

const invalid = (name: string, reason: string) => refusedAt(name, "INVALID_ATTRIBUTE", reason);

export function text(maxCharacters: number): Rule {
  return (name, value) => {
    if (typeof value !== "string") return invalid(name, `${describeValue(value)} is not a string`);
    return isLongerThan(value, maxCharacters)
      ? invalid(name, `the string has more than ${maxCharacters} characters`)
      : accepted(value);
  };
}

/** A string that `read` turns into the code that is stored. */
export function code(read: (text: string) => string | undefined, complaint: string): Rule {
  return (name, value) => {
    const found = typeof value === "string" ? read(value) : undefined;
    return found === undefined
      ? invalid(name, `${describeValue(value)} ${complaint}`)
      : accepted(found);
  };
}

/** A subscription state; `fault` is the code of the fault for any other value. */
export function subscriptionState(fault: string): Rule {
  return (name, value) =>
    EMAIL_STATES.some((each) => each === value)
      ? accepted(value as EmailState)
      : refusedAt(
          name,
          fault,
          `${describeValue(value)} is none of ${listed(EMAIL_STATES.toSorted())}`,
        );
}

/**
 * A real day from 1880 to tomorrow, which may have begun where the person lives. Accepts
 * `YYYY-MM-DD` and also `MM/DD/YYYY` and date-times, which existing clients send; all are stored as the first. The day of
 * a date-time is the one that is written, whatever its time zone: nobody is born a day earlier for the zone of a program.
 */
export function dateOfBirth(name: string, value: unknown, now: Date): Checked<Json> {
  const date = typeof value === "string" ? dayIn(value) : undefined;
  const tomorrow = now.getTime() + DAY_MS;
  return date && date.getUTCFullYear() >= 1880 && date.getTime() <= tomorrow
    ? accepted(date.toISOString().slice(0, 10))
    : invalid(name, `${describeValue(value)} is not a day from 1880 to today, as YYYY-MM-DD`);
}

const DAY = /^\d{4}-\d\d-\d\d$|^\d\d?\/\d\d?\/\d{4}$/;
const DAY_WITH_TIME = /^(\d{4}-\d\d-\d\d)[T ]/;

function dayIn(text: string): Date | undefined {
  if (DAY.test(text)) return parseAttributeTime(text);
  const day = DAY_WITH_TIME.exec(text)?.[1];
  return day !== undefined && parseAttributeTime(text) ? parseAttributeTime(day) : undefined;
}

/** Accepts an ISO 8601 date-time; stores it in UTC. */
export function dateTime(name: string, value: unknown): Checked<Json> {
  const time = typeof value === "string" ? parseAttributeTime(value) : undefined;
  return time
    ? accepted(time.toISOString())
    : invalid(name, `${describeValue(value)} is not an ISO 8601 date-time`);
}

export function trueOrFalse(name: string, value: unknown): Checked<Json> {
  return typeof value === "boolean"
    ? accepted(value)
    : invalid(name, `${describeValue(value)} is neither true nor false`);
}
