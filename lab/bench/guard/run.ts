import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { inFolder, openEngines, say } from "../benchmark.ts";
import type { Dataset, Engine } from "../engines/engine.ts";
import { generate, type LoadResult } from "../load/generate.ts";
import { thisMachine } from "../machine.ts";
import { measureRound, type Round } from "../phase.ts";
import { type Child, startChild } from "../processes/child.ts";
import type { CleanUp } from "../processes/clean-up.ts";
import { freePort } from "../processes/free-port.ts";
import { type ServerProcess, startServer } from "../processes/server.ts";
import { rounded } from "../result.ts";
import { createRandom } from "../workloads/random.ts";
import { attributesObject, eventObject } from "../workloads/track.ts";
import { attributesOf, eventOf } from "../workloads/updates.ts";
import { emailOf } from "../workloads/users.ts";
import type { Workload } from "../workloads/workload.ts";
import { bodiesOf, workloadNamed } from "../workloads/workloads.ts";
import {
  compare,
  GUARD_FILE,
  type GuardReport,
  type GuardResult,
  type Turn,
  tableOf,
} from "./compare.ts";
import { buildCommit } from "./other-commit.ts";

/*
 * This code beside an earlier commit, so that small losses do not add up unnoticed: the same requests to a server of each, in
 * turns, on both engines. Everything goes through HTTP, also what fills the databases, because tables and internals differ
 * between commits. The server whose turn it is not is idle.
 */

export interface GuardOptions {
  readonly engine: Engine["name"] | "both";
  readonly users: number;
  /** How long each server is measured with each workload, in all turns together. */
  readonly seconds: number;
  readonly rounds: number;
  readonly workloads: readonly string[];
  /** How many requests are under way; without it as many as each workload says. */
  readonly connections?: number;
  readonly databaseUrl: string | undefined;
  /** The ratio of processor time above which it fails. */
  readonly limit: number;
}

/** All on the same users, one after the other; merges are last because they use users up. */
export const GUARDED = [
  "track",
  "track-profiles",
  "track-single",
  "subscription-sets",
  "exports",
  "merges",
];

const WARM_UP_SECONDS = 1.5;

/** The share of bodies to be sent once that warms up. */
const WARM_UP_BODIES = 0.1;

/** So that the work of one server never falls into the other's turn. */
const QUIET_POSTGRES = { autovacuum: "off" };

export async function runGuard(commit: string | undefined, options: GuardOptions): Promise<void> {
  const workloads = GUARDED.filter((name) => options.workloads.includes(name))
    .map(workloadNamed)
    .map((each) => ({ ...each, ...(options.connections && { connections: options.connections }) }));
  await inFolder(async (folder, cleanUp) => {
    const other = buildCommit(commit, folder, cleanUp);
    const results: GuardResult[] = [];
    const turns: Round[] = [];
    const wanted = { ...options, profile: undefined };
    for (const engine of await openEngines(wanted, folder, cleanUp, QUIET_POSTGRES)) {
      const here = await startSide(engine, packageRoot(), options, folder, cleanUp);
      const there = await startSide(engine, other.root, options, folder, cleanUp);
      for (const workload of workloads) {
        say(`${engine.name}: ${workload.name}`);
        const measured = await measureBoth(here, there, workload, options);
        turns.push(...measured.here, ...measured.other);
        const { name, unit } = workload;
        const compared = compare(measured.here, measured.other);
        results.push({ engine: engine.name, workload: name, unit, ...compared });
      }
    }
    const sum = (value: (turn: Round) => number) =>
      turns.reduce((total, turn) => total + value(turn), 0);
    const report: GuardReport = {
      commit: thisMachine("").commit,
      other: other.commit,
      measured_at: new Date().toISOString(),
      users: options.users,
      seconds: options.seconds,
      rounds: options.rounds,
      coresTakenByOthers: rounded(sum((turn) => turn.others) / sum((turn) => turn.seconds)),
      results,
    };
    await mkdir(join(packageRoot(), "dist"), { recursive: true });
    await writeFile(join(packageRoot(), GUARD_FILE), `${JSON.stringify(report, null, 2)}\n`);
    process.stdout.write(`\n${tableOf(report)}\n`);
    for (const { engine, workload, ratios } of results) {
      if (ratios.cpu <= options.limit) continue;
      say(`${workload} on ${engine} takes ${ratios.cpu} times the processor time.`);
      process.exitCode = 1;
    }
  });
}

/** One of the two commits, with a database that it made and filled itself. */
interface Side {
  readonly server: ServerProcess;
  readonly dataset: Dataset;
  readonly metricsUrl: string;
}

async function startSide(
  engine: Engine,
  root: string,
  { users }: GuardOptions,
  folder: string,
  cleanUp: CleanUp,
): Promise<Side> {
  const dataset = await engine.create();
  cleanUp.add(() => dataset.remove());
  const port = await freePort();
  const environment = { ...dataset.environment, METRICS_PORT: String(port) };
  const server = await startServer(environment, { folder, workers: 1, root });
  cleanUp.add(() => server.stop());
  await makeUsers(server, users);
  // The embedded engine belongs to its server.
  if (engine.name === "postgres") await dataset.run(["vacuum analyze", "checkpoint"]);
  return { server, dataset, metricsUrl: `http://127.0.0.1:${port}/metrics` };
}

/** A request has at most 50 updates, and each user has two. */
const USERS_AT_ONCE = 25;

/** Users with an address, attributes and an event. */
async function makeUsers({ url }: ServerProcess, users: number): Promise<void> {
  const random = createRandom(1);
  let made = 0;
  const next = () => {
    const numbers = Array.from(
      { length: Math.min(USERS_AT_ONCE, users - made) },
      (_, place) => made + place,
    );
    made += numbers.length;
    const attributes = numbers.map((user) => ({
      ...attributesObject(user, attributesOf(random)),
      email: emailOf(user),
    }));
    const events = numbers.map((user) => eventObject(user, eventOf(random)));
    const body = Buffer.from(JSON.stringify({ attributes, events }));
    return { method: "POST" as const, path: "/users/track", body };
  };
  const requests = Math.ceil(users / USERS_AT_ONCE);
  const load = { url, connections: 32, seconds: Number.POSITIVE_INFINITY, requests };
  const { failures } = await generate(load, next, (answer) => answer.includes('"errors"'));
  if (Object.keys(failures).length > 0) {
    throw new Error(`The users were not made: ${JSON.stringify(failures)}`);
  }
}

async function measureBoth(
  here: Side,
  there: Side,
  workload: Workload,
  { users, seconds, rounds }: GuardOptions,
): Promise<{ readonly here: (Turn & Round)[]; readonly other: (Turn & Round)[] }> {
  const load = await startChild("load", { workload: workload.name, users });
  try {
    const turnOf = (side: Side, lasting: number, share: number) =>
      turn(load, side, workload, {
        seconds: lasting,
        requests: workload.isSentOnce && Math.floor(bodiesOf(workload, users) * share),
      });
    for (const side of [here, there]) await turnOf(side, WARM_UP_SECONDS, WARM_UP_BODIES);
    const turns = { here: [] as (Turn & Round)[], other: [] as (Turn & Round)[] };
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? [here, there] : [there, here]) {
        const measured = await turnOf(side, seconds / rounds, (1 - WARM_UP_BODIES) / rounds);
        (side === here ? turns.here : turns.other).push(measured);
      }
    }
    return turns;
  } finally {
    await load.stop();
  }
}

/** @throws when a request was not done: then the figures mean nothing. */
async function turn(
  load: Child,
  { server, dataset, metricsUrl }: Side,
  { name, connections, unitsPerRequest }: Workload,
  asked: { readonly seconds: number; readonly requests: number | undefined },
): Promise<Turn & Round> {
  const before = await statementsOf(metricsUrl);
  const watched = {
    server: server.processId,
    database: dataset.processId,
    load: load.processId,
  };
  const round = await measureRound(watched, async () => {
    const { acknowledged, ...result } = await load.call<LoadResult>({
      url: server.url,
      connections,
      ...asked,
    });
    return { ...result, units: acknowledged * unitsPerRequest };
  });
  if (Object.keys(round.failures).length > 0 || round.units === 0) {
    throw new Error(`${name} failed: ${JSON.stringify(round.failures)}`);
  }
  const after = await statementsOf(metricsUrl);
  return { ...round, statements: before === null || after === null ? null : after - before };
}

/** How many statements the server has run; null if it does not count them. */
async function statementsOf(metricsUrl: string): Promise<number | null> {
  const text = await (await fetch(metricsUrl)).text();
  const counts = [
    ...text.matchAll(/^rapport_database_statement_duration_seconds_count.* (\d+)$/gm),
  ];
  return counts.length === 0 ? null : counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
