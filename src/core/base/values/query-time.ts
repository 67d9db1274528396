import { Problem } from "../problem.ts";
import { parseTime } from "./times.ts";

/** A time in a query. @throws Problem INVALID_REQUEST that names the parameter. */
export function readQueryTime(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  // An unencoded plus sign before the zone arrives as a space.
  const time = parseTime(text.replace(/(T.*) (\d\d:?\d\d)$/, "$1+$2"));
  if (time) return time;
  throw new Problem("INVALID_REQUEST", `'${name}' must be an ISO 8601 date-time`);
}
