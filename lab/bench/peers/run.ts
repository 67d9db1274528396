import { availableParallelism } from "node:os";
import { processesFor } from "../../../src/server/config.ts";
import { inFolder, openEngines, say } from "../benchmark.ts";
import type { Dataset, Engine } from "../engines/engine.ts";
import { thisMachine } from "../machine.ts";
import { measureRound, type Round } from "../phase.ts";
import { type Child, startChild } from "../processes/child.ts";
import { track, trackSingle } from "../workloads/track.ts";
import type { Workload } from "../workloads/workload.ts";
import type { Setting, Started } from "./contender.ts";
import { CONTENDERS, type ContenderName } from "./contenders.ts";
import type { PeerLoadResult, PeerLoadSettings } from "./load-role.ts";
import { installPeers } from "./packages.ts";
import { type Comparison, comparisonOf, comparisonText, writeComparisons } from "./report.ts";

/*
 * The same updates on Rapport and on its peers, all durable on one PostgreSQL, each with a separate
 * database and separate processes. They are measured in turns, in another order in each round;
 * waiting contenders are idle.
 */

export interface PeerOptions {
  readonly users: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number | undefined;
  readonly workers: number | undefined;
  readonly databaseUrl: string | undefined;
  readonly results: string;
}

/** Long enough for V8 to compile the slowest contender's code. */
const WARM_UP_SECONDS = 3;

/** The load for one and for fifty updates per request: connections and numbers of bodies. */
const WORKLOADS: readonly Workload[] = [track, trackSingle];

interface Measured extends Started {
  readonly name: ContenderName;
  readonly dataset: Dataset;
  readonly eventsBefore: number;
  /** How many events have been acknowledged since. */
  eventsAcknowledged: number;
}

/** Prints rates, latencies and processor time of every contender, and writes them to a file. */
export async function runPeers(options: PeerOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    const packages = await installPeers(say);
    const wanted = { ...options, engine: "postgres", profile: undefined } as const;
    const [engine] = await openEngines(wanted, folder, cleanUp);
    if (!engine) return;
    const { users, workers: processes = processesFor(availableParallelism()) } = options;
    const atEnd = cleanUp.add;
    const setting = { users, processes, packages, folder, atEnd };
    const all: Measured[] = [];
    for (const name of Object.keys(CONTENDERS) as ContenderName[]) {
      say(`${name}: making ${users.toLocaleString("en-US")} users`);
      all.push(await begin(engine, name, setting));
    }
    const comparisons: Comparison[] = [];
    for (const workload of WORKLOADS) {
      comparisons.push(await compare(all, workload, options, { engine, processes, atEnd }));
      process.stdout.write(`\n${comparisonText(comparisons.at(-1) as Comparison)}\n`);
    }
    say(`Written to ${await writeComparisons(options.results, comparisons)}.`);
  });
}

async function begin(engine: Engine, name: ContenderName, setting: Setting): Promise<Measured> {
  const dataset = await engine.create();
  setting.atEnd(() => dataset.remove());
  const contender = CONTENDERS[name];
  await contender.prepare(dataset, setting);
  const eventsBefore = await count(dataset, contender.countEvents);
  const { url, processId } = await contender.start(dataset, setting);
  return { name, dataset, url, processId, eventsBefore, eventsAcknowledged: 0 };
}

/** One size of request. */
async function compare(
  all: readonly Measured[],
  workload: Workload,
  { users, seconds, rounds: turns, ...options }: PeerOptions,
  { engine, processes, atEnd }: Pick<Setting, "processes" | "atEnd"> & { engine: Engine },
): Promise<Comparison> {
  const connections = options.connections ?? workload.connections;
  const loads: Child[] = [];
  const rounds = all.map((): Round[] => []);
  const usersChanged = all.map(() => 0);
  for (const { name } of all) loads.push(await startLoad(name, users, workload));
  for (const load of loads) atEnd(() => load.stop());

  const send = async (place: number, forSeconds: number): Promise<Round> => {
    const to = all[place] as Measured;
    const load = loads[place] as Child;
    const watched = {
      server: to.processId,
      database: to.dataset.processId,
      load: load.processId,
    };
    return measureRound(watched, async () => {
      const asked = { url: to.url, connections, seconds: forSeconds };
      const result = await load.call<PeerLoadResult>(asked);
      const { acknowledged, acknowledgedEvents, usersChanged: changed, ...rest } = result;
      to.eventsAcknowledged += acknowledgedEvents;
      usersChanged[place] = changed;
      return { ...rest, units: acknowledged * workload.unitsPerRequest };
    });
  };

  for (const place of all.keys()) await send(place, WARM_UP_SECONDS);
  for (let turn = 0; turn < turns; turn++) {
    say(`${workload.unitsPerRequest} per request: round ${turn + 1} of ${turns}`);
    for (const offset of all.keys()) {
      const place = (turn + offset) % all.length;
      rounds[place]?.push(await send(place, seconds / turns));
    }
  }
  for (const load of loads) await load.stop();
  const measured = [];
  for (const [place, each] of all.entries()) {
    measured.push({
      title: CONTENDERS[each.name].title,
      rounds: rounds[place] as Round[],
      proof: await prove(each, usersChanged[place] as number),
    });
  }
  return comparisonOf(measured, {
    updatesPerRequest: workload.unitsPerRequest,
    users,
    connections,
    processes,
    machine: thisMachine(engine.version),
  });
}

function startLoad(contender: ContenderName, users: number, workload: Workload): Promise<Child> {
  const settings: PeerLoadSettings = {
    contender,
    users,
    updatesPerRequest: workload.unitsPerRequest,
    requests: workload.bodies as number,
  };
  return startChild("peer-load", settings);
}

export interface PeerProof {
  readonly eventsAcknowledged: number;
  readonly eventsFound: number;
  readonly usersChanged: number;
  readonly usersFoundChanged: number;
}

/** Counts acknowledged updates, from the beginning of the run. @throws when anything is missing. */
async function prove(
  { name, dataset, eventsBefore, eventsAcknowledged }: Measured,
  usersChanged: number,
): Promise<PeerProof> {
  const { title, countEvents, countChangedUsers } = CONTENDERS[name];
  const eventsFound = (await count(dataset, countEvents)) - eventsBefore;
  const usersFoundChanged = await count(dataset, countChangedUsers);
  if (eventsFound < eventsAcknowledged || usersFoundChanged < usersChanged) {
    throw new Error(
      `${title}: ${eventsAcknowledged} events were acknowledged, ${eventsFound} found; ` +
        `attributes of ${usersChanged} users were acknowledged, of ${usersFoundChanged} found.`,
    );
  }
  return { eventsAcknowledged, eventsFound, usersChanged, usersFoundChanged };
}

async function count(dataset: Dataset, sql: string): Promise<number> {
  const [row] = await dataset.run([sql]);
  return Number(row?.rows);
}
