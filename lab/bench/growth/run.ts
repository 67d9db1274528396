import { inFolder, openEngines, say } from "../benchmark.ts";
import type { Dataset } from "../engines/engine.ts";
import type { PostgresEngine } from "../engines/postgres.ts";
import { seedStatements } from "../engines/seed.ts";
import type { LoadResult } from "../load/generate.ts";
import { measureRound, type Round } from "../phase.ts";
import { type Child, startChild } from "../processes/child.ts";
import type { CleanUp } from "../processes/clean-up.ts";
import { memoryOf } from "../processes/process-table.ts";
import { type ServerProcess, startServer } from "../processes/server.ts";
import { track } from "../workloads/track.ts";
import { type Counters, readAhead, readCounters, readSizes, type TableSize } from "./counters.ts";
import { type LookUp, measureLookUps } from "./look-ups.ts";
import { growthReport } from "./report.ts";

/*
 * The same load on databases with different numbers of users, in turns: the cost of an update and
 * of a look-up as a database grows, and the reasons.
 */

export interface GrowthOptions {
  readonly users: readonly number[];
  readonly eventsPerUser: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly databaseUrl: string | undefined;
  /** Whether the databases stay for the next run, which takes them as they are. */
  readonly keep: boolean | undefined;
}

/** One size of database, with its results. */
export interface Size {
  readonly users: number;
  readonly tables: Readonly<Record<string, TableSize>>;
  readonly rounds: Round[];
  /** The database's counters during each round. */
  readonly counted: { readonly before: Counters; readonly after: Counters }[];
  readonly lookUps: LookUp[];
  serverBytes: number;
}

interface Running extends Size {
  readonly dataset: Dataset;
  readonly server: ServerProcess;
  readonly load: Child;
}

const WARM_UP_SECONDS = 3;

/** As many updates as are sent before any is sent again, for a second of load. */
const BODIES_PER_SECOND = 1_000;

export async function runGrowthBenchmark(options: GrowthOptions): Promise<void> {
  if (options.keep && !options.databaseUrl) throw new Error("--keep needs --database-url.");
  await inFolder(async (folder, cleanUp) => {
    const wanted = { ...options, engine: "postgres" as const, profile: undefined };
    const [engine] = (await openEngines(wanted, folder, cleanUp)) as [PostgresEngine];
    const sizes: Running[] = [];
    for (const users of options.users) {
      sizes.push(await prepare(engine, users, options, folder, cleanUp));
    }
    for (const size of sizes) {
      say(`looking up among ${size.users} users`);
      await readAhead(size.dataset);
      size.lookUps.push(...(await measureLookUps(size.server, size.users)));
    }
    for (const size of sizes) await measure(size, WARM_UP_SECONDS);
    await sizes[0]?.dataset.run(["checkpoint"]);
    for (let round = 0; round < options.rounds; round++) {
      say(`round ${round + 1} of ${options.rounds}`);
      for (const size of sizes) {
        await readAhead(size.dataset);
        const before = await readCounters(size.dataset);
        size.rounds.push(await measure(size, options.seconds / options.rounds));
        size.counted.push({ before, after: await readCounters(size.dataset) });
      }
    }
    for (const size of sizes) {
      size.serverBytes = memoryOf(size.server.processId).peakBytes;
      await countEvents(size, options);
    }
    process.stdout.write(`\n${engine.version}\n\n${growthReport(sizes)}\n`);
  });
}

async function prepare(
  engine: PostgresEngine,
  users: number,
  { eventsPerUser, seconds, keep }: GrowthOptions,
  folder: string,
  cleanUp: CleanUp,
): Promise<Running> {
  const { dataset, isNew } = await engine.named(`rapport_growth_${users}_${eventsPerUser}`);
  if (!keep) cleanUp.add(() => dataset.remove());
  const start = () => startServer(dataset.environment, { folder, workers: 1 });
  if (isNew) {
    say(`making ${users} users with ${eventsPerUser} events each`);
    await (await start()).stop();
    const seed = { users, eventsPerUser, statistics: true, addresses: true };
    await dataset.run(seedStatements(seed));
  }
  const server = await start();
  cleanUp.add(() => server.stop());
  const bodies = (seconds + WARM_UP_SECONDS) * BODIES_PER_SECOND;
  const load = await startChild("load", { workload: track.name, users, bodies });
  cleanUp.add(() => load.stop());
  const tables = await readSizes(dataset);
  const found = { rounds: [], counted: [], lookUps: [], serverBytes: 0 };
  return { users, tables, dataset, server, load, ...found };
}

const measure = ({ server, dataset, load }: Running, seconds: number): Promise<Round> =>
  measureRound(
    { server: server.processId, database: dataset.processId, load: load.processId },
    async () => {
      const { connections, unitsPerRequest } = track;
      const asked = { url: server.url, connections, seconds };
      const { acknowledged, ...result } = await load.call<LoadResult>(asked);
      return { ...result, units: acknowledged * unitsPerRequest };
    },
  );

/** @throws when an acknowledged event is missing. */
async function countEvents({ dataset, rounds, users }: Running, { eventsPerUser }: GrowthOptions) {
  const [row] = await dataset.run(["select count(*) as events from events"]);
  const acknowledged = rounds.reduce((sum, { units }) => sum + units, 0) / 2;
  const wanted = users * eventsPerUser + acknowledged;
  if (Number(row?.events) < wanted) {
    throw new Error(`${wanted} events were acknowledged: ${row?.events} found`);
  }
}
