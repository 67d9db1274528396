import { inFolder, openEngines, say } from "./benchmark.ts";
import type { Dataset } from "./engines/engine.ts";
import { generate, type Prepared } from "./load/generate.ts";
import { percentile, sumOf } from "./load/histogram.ts";
import { type ServerProcess, startServer } from "./processes/server.ts";
import { median } from "./ratios.ts";
import { prepareDataset } from "./stage.ts";
import { GROUPS, stateOf } from "./workloads/groups.ts";
import { createRandom, type Random } from "./workloads/random.ts";
import { attributesObject, eventObject } from "./workloads/track.ts";
import { attributesOf, eventOf } from "./workloads/updates.ts";
import { emailOf, externalIdOf } from "./workloads/users.ts";

/*
 * Several servers and processes on one PostgreSQL beside one process, in turns within each round: at saturation, and then
 * at a share of what the first layout reached. Each layout has a database of its own, because servers on one database count
 * those that write. Each server has a share of the connections, and all but those whose turn it is are idle.
 */

export interface ServersOptions {
  readonly users: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly share: number;
  readonly mixes: readonly string[];
  /** How many processes each server has: `1+1` is two servers of one process, `2` one server of two. */
  readonly layouts: readonly string[];
  readonly databaseUrl: string | undefined;
}

const UPDATES = 50;
/** Longer than servers take to count those that write. */
const WARM_UP_SECONDS = 12;

type Make = (random: Random, users: number) => Prepared;

const post = (path: string, body: unknown): Prepared => ({
  method: "POST",
  path,
  body: Buffer.from(JSON.stringify(body)),
});

const times = <One>(count: number, make: () => One): One[] => Array.from({ length: count }, make);

const known: Make = (random, users) =>
  post("/users/track", {
    attributes: times(UPDATES / 2, () =>
      attributesObject(random.below(users), attributesOf(random)),
    ),
    events: times(UPDATES / 2, () => eventObject(random.below(users), eventOf(random))),
  });

let created = 0;

/** The updates of one request, drawn again each time. */
const MIXES: Readonly<Record<string, Make>> = {
  known,
  /** Each update gives a user the address of anybody. */
  addresses: (random, users) =>
    post("/users/track", {
      attributes: times(UPDATES, () => ({
        ...attributesObject(random.below(users), attributesOf(random)),
        email: emailOf(random.below(users)),
      })),
    }),
  /** Four fifths of the users are new. */
  new: (random, users) => {
    const ids = times(UPDATES / 2, () =>
      random.below(5) > 0 ? `new-${process.pid}-${created++}` : externalIdOf(random.below(users)),
    );
    return post("/users/track", {
      attributes: ids.map((id) => ({
        ...attributesObject(0, attributesOf(random)),
        external_id: id,
      })),
      events: ids.map((id) => ({ ...eventObject(0, eventOf(random)), external_id: id })),
    });
  },
  /** A tenth are merges, a fifth subscription sets, the others updates. */
  mixed: (random, users) => {
    const anybody = () => ({ external_id: externalIdOf(random.below(users)) });
    const kind = random.below(10);
    if (kind === 0) {
      return post("/users/merge", {
        merge_updates: times(5, () => ({
          identifier_to_merge: anybody(),
          identifier_to_keep: anybody(),
        })),
      });
    }
    if (kind > 2) return known(random, users);
    return post("/v2/subscription/status/set", {
      subscription_groups: [
        {
          subscription_group_id: GROUPS[0].id,
          subscription_state: stateOf(random),
          external_ids: times(20, () => anybody().external_id),
        },
      ],
    });
  },
};

export const MIX_NAMES = Object.keys(MIXES);

interface Figures {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** The share of the database's transactions that were rolled back. */
  readonly rolledBack: number;
}

interface Setting {
  readonly name: string;
  readonly dataset: Dataset;
  readonly servers: readonly ServerProcess[];
  readonly full: Figures[];
  readonly calm: Figures[];
}

export async function runServersBenchmark(options: ServersOptions): Promise<void> {
  const { users, seconds, rounds, share, mixes, layouts } = options;
  await inFolder(async (folder, cleanUp) => {
    const wanted = { ...options, engine: "postgres" as const, profile: undefined };
    const [engine] = await openEngines(wanted, folder, cleanUp);
    if (!engine) throw new Error("It needs a PostgreSQL.");
    const started: Pick<Setting, "name" | "dataset" | "servers">[] = [];
    for (const name of layouts) {
      const seed = { users, statistics: true, addresses: true };
      const dataset = await prepareDataset(engine, seed, folder);
      cleanUp.add(() => dataset.remove());
      const servers: ServerProcess[] = [];
      for (const workers of name.split("+").map(Number)) {
        const server = await startServer(dataset.environment, { folder, workers });
        cleanUp.add(() => server.stop());
        servers.push(server);
      }
      started.push({ name, dataset, servers });
    }
    for (const mix of mixes) {
      const settings: Setting[] = started.map((each) => ({ ...each, full: [], calm: [] }));
      const measure = (setting: Setting, lasting: number, perSecond?: number) =>
        run({ options, setting, mix, lasting, perSecond });
      for (const setting of settings) await measure(setting, WARM_UP_SECONDS);
      for (let round = 0; round < rounds; round++) {
        say(`${mix}: round ${round + 1} of ${rounds}`);
        for (const each of settings) each.full.push(await measure(each, seconds / rounds));
      }
      const reached = median((settings[0] as Setting).full.map(({ rate }) => rate));
      for (let round = 0; round < rounds; round++) {
        for (const each of settings) {
          each.calm.push(await measure(each, seconds / rounds, reached * share));
        }
      }
      process.stdout.write(`\n${mix}, ${options.connections} connections\n${tableOf(settings)}\n`);
    }
  });
}

interface Run {
  readonly options: ServersOptions;
  readonly setting: Setting;
  readonly mix: string;
  readonly lasting: number;
  readonly perSecond: number | undefined;
}

let runs = 0;

async function run({ options, setting, mix, lasting, perSecond }: Run): Promise<Figures> {
  const { servers, dataset } = setting;
  const make = MIXES[mix] as Make;
  const random = createRandom(++runs);
  const before = await transactionsOf(dataset);
  const results = await Promise.all(
    servers.map(({ url }) =>
      generate(
        {
          url,
          connections: Math.ceil(options.connections / servers.length),
          seconds: lasting,
          requestsPerSecond: perSecond && perSecond / servers.length,
        },
        () => make(random, options.users),
        () => false,
      ),
    ),
  );
  for (const { failures } of results) {
    if (Object.keys(failures).length > 0) throw new Error(JSON.stringify(failures));
  }
  const after = await transactionsOf(dataset);
  const latencies = sumOf(results.map((result) => result.latencies));
  const acknowledged = results.reduce((sum, result) => sum + result.acknowledged, 0);
  const rolledBack = after.rolledBack - before.rolledBack;
  return {
    rate: acknowledged / Math.max(...results.map((result) => result.seconds)),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    rolledBack: rolledBack / (after.committed - before.committed + rolledBack),
  };
}

/** A backend reports its counters within a second. */
const REPORTED_MS = 1_100;

async function transactionsOf(dataset: Dataset) {
  await new Promise((resolve) => setTimeout(resolve, REPORTED_MS));
  const [row] = await dataset.run([
    `select xact_commit::int as committed, xact_rollback::int as "rolledBack"
     from pg_stat_database where datname = current_database()`,
  ]);
  return row as { committed: number; rolledBack: number };
}

function tableOf(settings: readonly Setting[]): string {
  const [one] = settings;
  const lines = settings.flatMap(({ name, full, calm }) =>
    (["full", "calm"] as const).map((load) => {
      const figures = load === "full" ? full : calm;
      const of = (value: (each: Figures) => number) => median(figures.map(value));
      const ratio = median(
        figures.map(({ rate }, round) => rate / (one?.[load][round]?.rate ?? rate)),
      );
      const cells = [
        name,
        load === "full" ? "saturation" : "a share of it",
        of(({ rate }) => rate).toFixed(0),
        ratio.toFixed(2),
        of(({ p50 }) => p50).toFixed(0),
        of(({ p99 }) => p99).toFixed(0),
        `${(of(({ rolledBack }) => rolledBack) * 100).toFixed(1)} %`,
      ];
      return `| ${cells.join(" | ")} |`;
    }),
  );
  return [
    "| processes | load | requests/s | ratio | p50 ms | p99 ms | rolled back |",
    "|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
