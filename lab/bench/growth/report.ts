import { percentile, sumOf } from "../load/histogram.ts";
import type { Round } from "../phase.ts";
import { median } from "../ratios.ts";
import { type Counters, TABLES } from "./counters.ts";
import type { Size } from "./run.ts";

/** The measurements as tables in Markdown, a column for each size. */
export function growthReport(sizes: readonly Size[]): string {
  const first = sizes[0] as Size;
  const lines: [string, (size: Size) => string][] = [
    ["updates/s", ({ rounds }) => whole(median(rounds.map(rateOf)))],
    [
      "CPU ms for 1,000 updates, server + database",
      ({ rounds }) =>
        `${tenth(median(rounds.map(({ server, units }) => perThousand(server * 1_000, units))))} + ${tenth(
          median(rounds.map(({ database, units }) => perThousand((database ?? 0) * 1_000, units))),
        )}`,
    ],
    [
      "of it, to the first column",
      ({ rounds }) =>
        median(rounds.map((round, at) => cpuOf(round) / cpuOf(first.rounds[at] as Round))).toFixed(
          2,
        ),
    ],
    ["p99 ms at saturation", ({ rounds }) => whole(latencyOf(rounds))],
    [
      "log KB for 1,000 updates",
      (size) => tenth(counted(size, ({ logBytes }) => logBytes / 1_024)),
    ],
    ["full pages in the log", (size) => tenth(counted(size, ({ fullPages }) => fullPages))],
    ...TABLES.map((table): [string, (size: Size) => string] => [
      `pages read or added of ${table}`,
      (size) => tenth(counted(size, ({ pagesRead }) => pagesRead[table] ?? 0)),
    ]),
    ...TABLES.map((table): [string, (size: Size) => string] => [
      `${table}: rows, bytes each, index levels`,
      ({ tables }) => {
        const { rows, bytes, levels } = tables[table] as Size["tables"][string];
        return `${whole(rows)}, ${whole(bytes / Math.max(1, rows))}, ${levels ?? "?"}`;
      },
    ]),
    ["database GB", ({ tables }) => gigabytes(Object.values(tables))],
    ["server, most MB", ({ serverBytes }) => whole(serverBytes / 1_048_576)],
    ...first.lookUps.map(({ name }, at): [string, (size: Size) => string] => [
      `${name}: p50, p99 ms`,
      ({ lookUps }) => `${tenth(lookUps[at]?.p50 ?? 0)}, ${tenth(lookUps[at]?.p99 ?? 0)}`,
    ]),
  ];
  const head = ["", ...sizes.map(({ users }) => `${whole(users)} users`)];
  return [
    `| ${head.join(" | ")} |`,
    `|${"---|".repeat(head.length)}`,
    ...lines.map(([name, cell]) => `| ${[name, ...sizes.map(cell)].join(" | ")} |`),
  ].join("\n");
}

const rateOf = ({ units, seconds }: Round): number => units / seconds;

const cpuOf = ({ units, server, database }: Round): number => (server + (database ?? 0)) / units;

const perThousand = (value: number, units: number): number => (value / Math.max(1, units)) * 1_000;

/** The database's counters over all rounds, for 1,000 updates. */
function counted({ counted, rounds }: Size, value: (of: Counters) => number): number {
  const total = counted.reduce((sum, { before, after }) => sum + value(after) - value(before), 0);
  return perThousand(
    total,
    rounds.reduce((sum, { units }) => sum + units, 0),
  );
}

const latencyOf = (rounds: readonly Round[]): number =>
  percentile(sumOf(rounds.map(({ latencies }) => latencies)), 0.99);

const gigabytes = (tables: readonly { bytes: number }[]): string =>
  (tables.reduce((sum, { bytes }) => sum + bytes, 0) / 1e9).toFixed(2);

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const tenth = (value: number): string => value.toFixed(1);
