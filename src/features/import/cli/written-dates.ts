import { parseTime } from "../../../core/base/values/times.ts";

/*
 * Dates as people write them: 31.01.2026, 1/31/2026 5:30 PM, 2026/1/31, 31 January 2026, Jan 31, 2026. Whether 03/04/2026 is in
 * March or in April is never guessed: other dates of the column say it, or an option.
 */

/** Whether the day or the month comes first. */
export type DayOrder = "dmy" | "mdy";

/** The order that a text such as `DD.MM.YYYY` names; undefined if it names none. */
export function readDayOrder(text: string): DayOrder | undefined {
  const order = text.toLowerCase().replaceAll(/(.)\1+|[^a-z]/g, "$1");
  return order === "dmy" || order === "mdy" ? order : undefined;
}

const MONTHS = new Map(
  ["en", "de"].flatMap((language) =>
    (["long", "short"] as const).flatMap((month) => {
      const format = new Intl.DateTimeFormat(language, { month, timeZone: "UTC" });
      return Array.from({ length: 12 }, (_, index) => {
        const name = format.format(Date.UTC(2026, index)).toLowerCase().replace(".", "");
        return [name, index + 1] as const;
      });
    }),
  ),
).set("sept", 9);

const TIME =
  "(?:(?:,? +|T)(\\d{1,2}):(\\d\\d)(?::(\\d\\d)(?:[.,]\\d+)?)? ?([AP]M)? ?(Z|UTC|[+-]\\d\\d:?\\d\\d)?)?";
const NUMBERS = new RegExp(`^(\\d{1,2})([./-])(\\d{1,2})\\2(\\d{4})${TIME}$`, "i");
const YEAR_FIRST = new RegExp(`^(\\d{4})([./-])(\\d{1,2})\\2(\\d{1,2})${TIME}$`, "i");
const DAY_FIRST = new RegExp(
  `^(\\d{1,2})(?:st|nd|rd|th)?[. -]+(\\p{L}+)[., -]+(\\d{4})${TIME}$`,
  "iu",
);
const MONTH_FIRST = new RegExp(
  `^(\\p{L}+)[. ]+(\\d{1,2})(?:st|nd|rd|th)?[, ]+(\\d{4})${TIME}$`,
  "iu",
);

/** The most characters of a date; longer texts are not looked at. */
const LONGEST = 64;

interface WrittenDate {
  /** ISO 8601: a day, or a time if one is written; undefined if the calendar lacks it, or the order is unknown. */
  readonly iso: string | undefined;
  /** What its numbers say about the order; `either` if both are possible. Undefined: nothing. */
  readonly order: DayOrder | "either" | undefined;
  /** Whether it is no ISO 8601, which every server reads. */
  readonly isOwnForm: boolean;
}

/** Reads a date in any of these forms. @returns undefined for anything else, also a year of two digits. */
export function readDate(text: string, order?: DayOrder): WrittenDate | undefined {
  if (text.length > LONGEST) return undefined;
  const numbers = NUMBERS.exec(text);
  if (numbers) {
    const [, first, , second, year, ...time] = numbers;
    const said = orderOf(Number(first), Number(second));
    const wanted = order ?? (said === "either" ? undefined : (said ?? "dmy"));
    const [day, month] = wanted === "mdy" ? [second, first] : [first, second];
    const iso = wanted && isoOf(Number(year), Number(month), Number(day), time);
    return { iso, order: said, isOwnForm: true };
  }
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst) {
    const [, year, , month, day, ...time] = yearFirst;
    const isOwnForm = parseTime(text) === undefined;
    const iso = isOwnForm ? isoOf(Number(year), Number(month), Number(day), time) : text;
    return { iso, order: undefined, isOwnForm };
  }
  const dayFirst = DAY_FIRST.exec(text);
  const monthFirst = MONTH_FIRST.exec(text);
  const [, day, name = "", year, ...time] = dayFirst ?? swapped(monthFirst) ?? [];
  const month = MONTHS.get(name.toLowerCase());
  if (month === undefined) return undefined;
  const iso = isoOf(Number(year), month, Number(day), time);
  return { iso, order: undefined, isOwnForm: true };
}

const swapped = (found: RegExpExecArray | null) => {
  const [whole, month, day, ...rest] = found ?? [];
  return found && [whole, day, month, ...rest];
};

function orderOf(first: number, second: number): WrittenDate["order"] {
  if (first > 12) return "dmy";
  if (second > 12) return "mdy";
  return first === second ? undefined : "either";
}

const two = (number: number): string => String(number).padStart(2, "0");

function isoOf(
  year: number,
  month: number,
  day: number,
  [hour, minute = "", second = "00", half, zone = "Z"]: readonly (string | undefined)[],
): string | undefined {
  const date = `${year}-${two(month)}-${two(day)}`;
  if (hour === undefined) return parseTime(date) && date;
  const isAfternoon = half?.toLowerCase() === "pm";
  if (half !== undefined && (Number(hour) < 1 || Number(hour) > 12)) return undefined;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0);
  return parseTime(`${date}T${two(hours)}:${minute}:${second}${zone.toUpperCase()}`)?.toISOString();
}

/**
 * The order of day and month in a column; `either` if no date needs one.
 *
 * @param orders what its dates say, each with an example.
 * @throws if they contradict each other, or do not say it.
 */
export function orderIn(
  name: string,
  orders: ReadonlyMap<DayOrder | "either", string>,
): DayOrder | "either" {
  const [day, month, either] = (["dmy", "mdy", "either"] as const).map((order) =>
    orders.get(order),
  );
  const advice = `pass --date-format dmy or mdy, or --type "${name}=text" to import texts`;
  if (day !== undefined && month !== undefined) {
    throw new Error(
      `The column '${name}' has ${day}, where the day comes first, and ${month}, where the month does: ${advice}.`,
    );
  }
  if (either !== undefined && day === undefined && month === undefined) {
    throw new Error(
      `The dates of the column '${name}' can be read in two ways, such as ${either}: ${advice}.`,
    );
  }
  return day !== undefined ? "dmy" : month !== undefined ? "mdy" : "either";
}
