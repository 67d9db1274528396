import { useMemo } from "react";
import { type ChartOf, Charts, type Line } from "../../components/chart.tsx";
import { countText, total } from "../../components/numbers.ts";
import type { Overview, Period } from "./api.ts";

const SLOT: Readonly<Record<Period, string>> = {
  hour: "per 10 seconds",
  day: "per 5 minutes",
};

/** More lines than colours tell nothing apart. */
const MOST_CODES = 4;
const CODE_COLORS = ["bad", "warn", "info", "plain"] as const;

export function Traffic({ data, period }: { readonly data: Overview; readonly period: Period }) {
  const { times, charts } = useMemo(() => {
    const [from, to] = shownSlots(data, period);
    const start = Date.parse(data.start) / 1_000;
    const all = data.requests.map((_, slot) => start + slot * data.slot_seconds);
    const cut = chartsOf(data, SLOT[period]).map((chart) => ({
      ...chart,
      lines: chart.lines.map((line) => ({ ...line, values: line.values.slice(from, to) })),
    }));
    return { times: all.slice(from, to), charts: cut };
  }, [data, period]);
  return <Charts of={charts} times={times} />;
}

/** At least this many, even if the server has just started counting. */
const LEAST_SLOTS = 60;

/** From shortly before the first request; an unfinished ten seconds would look like a fall. */
function shownSlots({ requests, syncs }: Overview, period: Period): readonly [number, number] {
  const first = requests.findIndex((count, slot) => count > 0 || syncs?.rows_synced[slot]);
  const to = requests.length - (period === "hour" ? 1 : 0);
  return [Math.max(0, Math.min(first - LEAST_SLOTS / 6, to - LEAST_SLOTS)), to];
}

function chartsOf(data: Overview, slot: string): readonly ChartOf[] {
  const { syncs } = data;
  const counts = (name: string, values: readonly number[], color: Line["color"]): Line => {
    return { name, values, color, whole: countText(total(values)) };
  };
  const latest = (name: string, values: readonly (number | null)[], color: Line["color"]): Line => {
    const last = lastOf(values);
    return { name, values, color, whole: last === null ? "–" : `${last} ms` };
  };
  const codes = [...data.rejections]
    .filter((each) => total(each.counts) > 0)
    .sort((one, other) => total(other.counts) - total(one.counts));
  return [
    {
      label: "Requests",
      summary: slot,
      isCount: true,
      lines: [
        counts("All", data.requests, "info"),
        counts("Refused (4xx)", data.refused, "warn"),
        counts("Failed (5xx)", data.failed, "bad"),
      ],
    },
    {
      label: "Items",
      summary: slot,
      isCount: true,
      lines: [
        counts("Accepted", data.items_accepted, "good"),
        counts("Rejected", data.items_rejected, "bad"),
      ],
    },
    {
      label: "Response times",
      summary: "milliseconds; the legend has the latest",
      unit: "ms",
      lines: [latest("p50", data.p50_ms, "info"), latest("p99", data.p99_ms, "warn")],
    },
    {
      label: "Rejections by code",
      summary: codes.length > MOST_CODES ? `${slot}; the ${MOST_CODES} most frequent` : slot,
      isCount: true,
      lines: codes
        .slice(0, MOST_CODES)
        .map(({ code, counts: each }, index) => counts(code, each, CODE_COLORS[index] ?? "plain")),
    },
    {
      label: "Write queue",
      summary: "the most items that waited, of all workspaces",
      lines: [
        {
          name: "Items",
          values: data.queue_items,
          color: "info",
          whole: `at most ${countText(Math.max(0, ...data.queue_items))}`,
        },
      ],
    },
    ...(syncs === null
      ? []
      : [
          {
            label: "Rows of syncs",
            summary: slot,
            isCount: true,
            lines: [
              counts("Synced", syncs.rows_synced, "good"),
              counts("Failed", syncs.rows_failed, "bad"),
            ].filter(({ values }) => values.some(Boolean)),
          },
        ]),
  ];
}

/** The latest number that is there. */
export const lastOf = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;
