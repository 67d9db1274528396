import { useMemo } from "react";
import type { Overview, Period } from "../../api/overview.ts";
import { Chart, type Line } from "../../components/chart.tsx";
import { lastOf, total } from "./numbers.ts";

const SLOT: Readonly<Record<Period, string>> = {
  hour: "per 10 seconds",
  day: "per 5 minutes",
};

/** More lines than colours tell nothing apart. */
const MOST_CODES = 4;
const CODE_COLORS = ["bad", "warn", "info", "plain"] as const;

interface ChartsProps {
  readonly data: Overview;
  readonly period: Period;
}

export function Charts({ data, period }: ChartsProps) {
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
  return (
    <div className="charts">
      {charts.map((chart) => (
        <section key={chart.label} className="card card-body" aria-label={chart.label}>
          <Chart {...chart} times={times} />
        </section>
      ))}
    </div>
  );
}

/** At least so many, however short the server has been counting. */
const LEAST_SLOTS = 60;

/** From a little before the first request; ten seconds that are not over yet would look like a fall. */
function shownSlots({ requests, syncs }: Overview, period: Period): readonly [number, number] {
  const first = requests.findIndex((count, slot) => count > 0 || syncs?.rows_synced[slot]);
  const to = requests.length - (period === "hour" ? 1 : 0);
  return [Math.max(0, Math.min(first - LEAST_SLOTS / 6, to - LEAST_SLOTS)), to];
}

interface ChartOf {
  readonly label: string;
  readonly summary: string;
  readonly lines: readonly Line[];
  readonly unit?: string;
}

function chartsOf(data: Overview, slot: string): readonly ChartOf[] {
  const { syncs } = data;
  const line = (name: string, values: readonly (number | null)[], color: Line["color"]): Line => ({
    name,
    values,
    color,
  });
  const codes = [...data.rejections]
    .filter(({ counts }) => total(counts) > 0)
    .sort((one, other) => total(other.counts) - total(one.counts));
  return [
    {
      label: "Requests",
      summary: `${total(data.requests)} requests, ${slot}`,
      lines: [
        line("All", data.requests, "info"),
        line("Refused (4xx)", data.refused, "warn"),
        line("Failed (5xx)", data.failed, "bad"),
      ],
    },
    {
      label: "Items",
      summary: `${total(data.items_accepted)} accepted, ${slot}`,
      lines: [
        line("Accepted", data.items_accepted, "good"),
        line("Rejected", data.items_rejected, "bad"),
      ],
    },
    {
      label: "Response times",
      summary: `latest: p50 ${lastOf(data.p50_ms) ?? "–"} ms, p99 ${lastOf(data.p99_ms) ?? "–"} ms`,
      unit: "ms",
      lines: [line("p50", data.p50_ms, "info"), line("p99", data.p99_ms, "warn")],
    },
    {
      label: "Rejections by code",
      summary:
        codes.length === 0
          ? "none"
          : codes.map((each) => `${each.code} ${total(each.counts)}`).join(", "),
      lines: codes
        .slice(0, MOST_CODES)
        .map(({ code, counts }, index) => line(code, counts, CODE_COLORS[index] ?? "plain")),
    },
    {
      label: "Write queue",
      summary: "the most items that waited, of all workspaces",
      lines: [line("Items", data.queue_items, "info")],
    },
    ...(syncs === null
      ? []
      : [
          {
            label: "Rows of syncs",
            summary: `${total(syncs.rows_synced)} synced, ${total(syncs.rows_failed)} failed`,
            lines: [
              line("Synced", syncs.rows_synced, "good"),
              line("Failed", syncs.rows_failed, "bad"),
            ],
          },
        ]),
  ];
}
