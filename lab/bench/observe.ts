import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inFolder, openEngines } from "./benchmark.ts";
import type { Dataset, Engine } from "./engines/engine.ts";
import type { LoadResult } from "./load/generate.ts";
import { measureRound, type Round } from "./phase.ts";
import { type Child, startChild } from "./processes/child.ts";
import type { CleanUp } from "./processes/clean-up.ts";
import { freePort } from "./processes/free-port.ts";
import { type ServerProcess, startServer } from "./processes/server.ts";
import { median } from "./ratios.ts";
import { prepareDataset } from "./stage.ts";
import { track } from "./workloads/track.ts";

/*
 * The cost of observing a server: the same load on servers that differ in what they report, one
 * after the other within each round, in another order each time. Each has a copy of the database;
 * all but one are idle.
 */

export interface ObserveOptions {
  readonly engine: Engine["name"] | "both";
  readonly users: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly databaseUrl: string | undefined;
}

interface Variant {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
}

const SCRAPE_EVERY_MS = 1_000;
const WARM_UP_SECONDS = 3;

/**
 * The server counts for its metrics in any case; the difference is what it does with them, and the
 * traces.
 */
const variantsOf = (collector: string, metricsPort: number): readonly Variant[] => {
  const sent = { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_METRIC_EXPORT_INTERVAL: "1000" };
  const sampler = "parentbased_traceidratio";
  return [
    { name: "neither sent nor scraped", settings: {} },
    { name: "metrics scraped each second", settings: { METRICS_PORT: String(metricsPort) } },
    { name: "metrics sent each second", settings: { ...sent, OTEL_TRACES_EXPORTER: "none" } },
    {
      name: "and one request in 100 traced",
      settings: { ...sent, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: "0.01" },
    },
    { name: "and every request traced", settings: sent },
    { name: "without live requests", settings: { LIVE_REQUESTS: "0" } },
  ];
};

/** Prints updates per second of each variant, and the median of its ratios to the baseline of the same round. */
export async function runObserveBenchmark(options: ObserveOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    const wanted = { ...options, profile: undefined };
    for (const engine of await openEngines(wanted, folder, cleanUp)) {
      await measureOn(engine, options, folder, cleanUp);
    }
  });
}

interface Measured {
  readonly variant: Variant;
  readonly server: ServerProcess;
  readonly dataset: Dataset;
  readonly rounds: Round[];
}

async function measureOn(
  engine: Engine,
  { users, seconds, rounds }: ObserveOptions,
  folder: string,
  cleanUp: CleanUp,
): Promise<void> {
  const prepared = await prepareDataset(
    engine,
    { users, statistics: true, addresses: false },
    folder,
  );
  cleanUp.add(() => prepared.remove());
  const metricsPort = await freePort();
  const variants = variantsOf(await startCollector(cleanUp), metricsPort);
  const load = await startChild("load", { workload: track.name, users });
  cleanUp.add(() => load.stop());
  const all: Measured[] = [];
  for (const variant of variants) {
    const dataset = await prepared.copy();
    cleanUp.add(() => dataset.remove());
    const environment = { ...dataset.environment, ...variant.settings };
    const server = await startServer(environment, { folder, workers: 1 });
    cleanUp.add(() => server.stop());
    all.push({ variant, server, dataset, rounds: [] });
    await measure(load, { server, dataset }, WARM_UP_SECONDS);
  }
  const scraping = setInterval(() => void scrape(metricsPort), SCRAPE_EVERY_MS);
  cleanUp.add(async () => clearInterval(scraping));
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${engine.name}: round ${round + 1} of ${rounds}\n`);
    for (const [place] of all.entries()) {
      const each = all[(place + round) % all.length] as Measured;
      each.rounds.push(await measure(load, each, seconds / rounds));
    }
  }
  clearInterval(scraping);
  process.stdout.write(
    `\n${engine.version}, ${users} users\n${tableOf(all.map(({ variant, rounds }) => ({ name: variant.name, rounds })))}\n`,
  );
}

/** Track at saturation. */
export const measure = (
  load: Child,
  { server, dataset }: { readonly server: ServerProcess; readonly dataset: Dataset },
  seconds: number,
): Promise<Round> =>
  measureRound(
    { server: server.processId, database: dataset.processId, load: load.processId },
    async () => {
      const { connections, unitsPerRequest } = track;
      const asked = { url: server.url, connections, seconds };
      const { acknowledged, ...result } = await load.call<LoadResult>(asked);
      return { ...result, units: acknowledged * unitsPerRequest };
    },
  );

interface Compared {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/** The medians of each, and of its ratios to the first one in the same round. */
export function tableOf(all: readonly Compared[]): string {
  const [baseline] = all as [Compared];
  const compared = (rounds: readonly Round[], value: (round: Round) => number): string => {
    const ratios = rounds.map((round, at) => value(round) / value(baseline.rounds[at] as Round));
    return median(ratios).toFixed(3);
  };
  const lines = all.map(({ name, rounds }) => {
    const rate = Math.round(median(rounds.map(rateOf))).toLocaleString("en-US");
    const cells = [name, rate, compared(rounds, rateOf), compared(rounds, cpuOf)];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| | updates/s | rate, paired | server CPU, paired |",
    "|---|---|---|---|",
    ...lines,
  ].join("\n");
}

export const rateOf = ({ units, seconds }: Round): number => units / seconds;
const cpuOf = ({ units, server }: Round): number => server / units;

const scrape = (port: number): Promise<unknown> =>
  fetch(`http://127.0.0.1:${port}/metrics`)
    .then((response) => response.arrayBuffer())
    .catch(() => {});

/** Accepts everything and drops it. */
async function startCollector(cleanUp: CleanUp): Promise<string> {
  const collector = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  cleanUp.add(async () => {
    collector.closeAllConnections();
    collector.close();
  });
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
}
