import { Tooltip } from "@mantine/core";

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const EXACT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

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

export const exactTime = (iso: string): string => EXACT.format(new Date(iso));

interface TimeProps {
  readonly at: string | null | undefined;
  readonly absent?: string;
  readonly exact?: boolean;
}

/** A time: how long ago, and exactly under the pointer. */
export function Time({ at, absent = "Never", exact = false }: TimeProps) {
  if (!at || Number.isNaN(Date.parse(at))) return <span className="dim">{at ?? absent}</span>;
  return (
    <Tooltip label={exact ? at : `${exactTime(at)} (${at})`}>
      <time dateTime={at}>{exact ? exactTime(at) : relativeTime(at)}</time>
    </Tooltip>
  );
}
