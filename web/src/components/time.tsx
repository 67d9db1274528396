import { Tooltip } from "@mantine/core";

/* Words are English, as the dashboard is; dates and clocks are in the reader's locale. */

/** Not every browser lists UTC. */
export const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

const DAY = { day: "numeric", month: "short" } as const;
const YEAR = { year: "numeric" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const ZONE = { timeZoneName: "short" } as const;

const EXACT = new Intl.DateTimeFormat(undefined, { ...DAY, ...YEAR, ...CLOCK, ...ZONE });
const THIS_YEAR = new Intl.DateTimeFormat(undefined, { ...DAY, ...CLOCK });
const OLDER = new Intl.DateTimeFormat(undefined, { ...DAY, ...YEAR, ...CLOCK });
const DATE = new Intl.DateTimeFormat(undefined, { ...DAY, ...YEAR });

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** `3 min. ago`, for a time in ISO 8601. */
export function relativeTime(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1_000;
  if (Math.abs(seconds) < 5) return "just now";
  const [unit, length] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return RELATIVE.format(Math.round(seconds / length), unit);
}

/** `23 Nov 2026, 14:05:09 CET`, in the zone of the browser. */
export const exactTime = (iso: string): string => EXACT.format(new Date(iso));

/** `23 Nov, 14:05:09`: with the year only if it is another one. */
function clockTime(iso: string): string {
  const at = new Date(iso);
  return (at.getFullYear() === new Date().getFullYear() ? THIS_YEAR : OLDER).format(at);
}

/** `23 Nov 2026` */
const dateOf = (iso: string): string => DATE.format(new Date(iso));

/** The beginning of a day in the zone of the browser, or of a day after it. @param day `2026-01-31`. */
export function startOfDay(day = "", later = 0): string {
  const start = new Date(`${day}T00:00:00`);
  if (Number.isNaN(start.getTime())) return "";
  start.setDate(start.getDate() + later);
  return start.toISOString();
}

const SHOWN = { ago: relativeTime, clock: clockTime, exact: exactTime, day: dateOf };

interface TimeProps {
  readonly at: string | null | undefined;
  readonly absent?: string;
  /** How long ago, to the second (where entries are compared), with year and zone, or the day alone. */
  readonly as?: keyof typeof SHOWN;
}

/** A time; hover to see the rest. */
export function Time({ at, absent = "Never", as = "ago" }: TimeProps) {
  if (!at || Number.isNaN(Date.parse(at))) return <span className="dim">{at ?? absent}</span>;
  const more = as === "ago" ? exactTime(at) : relativeTime(at);
  return (
    <Tooltip label={`${more} · ${at}`}>
      <time dateTime={at}>{SHOWN[as](at)}</time>
    </Tooltip>
  );
}
