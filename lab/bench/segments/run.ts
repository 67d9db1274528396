import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inFolder, openEngines } from "../benchmark.ts";
import { ADMIN_TOKEN, type ServerProcess, startServer } from "../processes/server.ts";
import { runCommand, writeRows } from "../transfer.ts";
import { createModel, type Model, rowsOf, sentOf } from "./model.ts";

/*
 * Segments: random filters, each counted exactly and estimated by the server, and checked with a
 * naive model of the same users; the speed of both; the effect of an exact count on track; and the
 * cost of the sample's index for new users.
 */

export interface SegmentsOptions {
  readonly engine: "postgres" | "embedded" | "both";
  readonly users: number;
  readonly filters: number;
  readonly seconds: number;
  readonly import: boolean;
  readonly databaseUrl: string | undefined;
}

const KEY = "segments-benchmark-key-0123456789";
const OBJECTS = 1_000;
/** A user of the model is at most six objects. */
const USERS_OF_A_REQUEST = 160;
const CONNECTIONS = 8;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const round = (value: number): string => Math.round(value).toLocaleString("en-US");

export async function runSegmentsBenchmark(options: SegmentsOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    const wanted = { ...options, profile: undefined };
    for (const engine of await openEngines(wanted, folder, cleanUp)) {
      const dataset = await engine.create();
      cleanUp.add(() => dataset.remove());
      const server = await startServer(dataset.environment, { folder, workers: 1 });
      cleanUp.add(() => server.stop());
      say(`${engine.version}, ${round(options.users)} users`);
      await admin(server, "/apply", {
        company: { name: "Benchmark" },
        workspaces: [
          {
            name: "bench",
            api_keys: [{ name: "bench", key: KEY, permissions: ["all"] }],
            settings: { track_max_updates: OBJECTS, rate_limits: { "users.track": "off" } },
          },
        ],
      });
      const model = createModel(options.users, Date.now(), !options.import);
      await (options.import ? importFile(server, model, folder) : load(server, model));
      await compare(server, model, options.filters);
      await timeExact(server, options.users);
      await trackBeside(server, options);
      if (engine.name === "postgres") await indexCost(server, dataset.run, options.seconds);
      await server.stop();
    }
  });
}

async function admin<Body>({ url }: ServerProcess, path: string, body?: unknown): Promise<Body> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as Body;
}

/** Sends a track request until it is taken. */
async function track({ url }: ServerProcess, body: object): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/users/track`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { errors?: unknown[] };
    if (response.ok && !answer.errors) return;
    if (response.status !== 429 && response.status !== 503) throw new Error(JSON.stringify(answer));
    await sleep(100);
  }
}

/** Runs a task repeatedly on several connections until none of them has more. */
const onConnections = (next: () => Promise<boolean>): Promise<unknown> =>
  Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (await next());
    }),
  );

async function load(server: ServerProcess, model: Model): Promise<void> {
  const startedAt = performance.now();
  let begin = 0;
  let objects = 0;
  await onConnections(async () => {
    if (begin >= model.users) return false;
    const first = begin;
    begin += USERS_OF_A_REQUEST;
    const body = sentOf(model, first, Math.min(model.users, begin));
    objects += body.attributes.length + body.events.length + body.purchases.length;
    await track(server, body);
    return true;
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  say(`  loaded         ${round(objects)} objects in ${round(seconds)} s`);
}

async function importFile(server: ServerProcess, model: Model, folder: string): Promise<void> {
  const path = join(folder, "users.ndjson");
  await writeRows(path, rowsOf(model));
  const { code, seconds } = await runCommand(["import", "users", path], server);
  if (code !== 0) throw new Error(`The import ended with ${code}.`);
  const speed = `${round(model.users / seconds)}/s`;
  say(`  imported       ${round(model.users)} users in ${round(seconds)} s, ${speed}`);
}

interface Size {
  readonly matching: number;
  readonly low: number;
  readonly high: number;
}

const COUNT = "/workspaces/bench/segments/count";

/** Counts exactly, and waits if a job continues. @returns the number and how long it took. */
async function exactly(server: ServerProcess, filter: object) {
  const startedAt = performance.now();
  let found = await admin<Size & { count_id?: string; status?: string }>(server, COUNT, {
    filter,
    exact: true,
  });
  while (found.count_id !== undefined && found.status !== "finished") {
    await sleep(50);
    found = await admin(server, `/workspaces/bench/segments/counts/${found.count_id}`);
  }
  return { matching: found.matching, seconds: (performance.now() - startedAt) / 1_000 };
}

/** The exact count must be the model's, and the interval of the estimate holds it in at least 93 of 100. */
async function compare(server: ServerProcess, model: Model, filters: number): Promise<void> {
  const times: number[] = [];
  let held = 0;
  for (let index = 0; index < filters; index++) {
    const { filter, expected } = model.randomFilter();
    const { matching } = await exactly(server, filter);
    if (matching !== expected) {
      throw new Error(`${JSON.stringify(filter)}: ${matching}, and the model says ${expected}.`);
    }
    const startedAt = performance.now();
    const { low, high } = await admin<Size>(server, COUNT, { filter });
    times.push(performance.now() - startedAt);
    if (low <= expected && expected <= high) held += 1;
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => round(times[Math.floor(share * (times.length - 1))] ?? 0);
  say(`  exact          ${filters} of ${filters} random filters as the model`);
  say(`  interval       holds the number of ${held} of ${filters}`);
  say(`  estimate       median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`);
}

const FILTERS = {
  "of an attribute": { custom_attribute: "plan", equals: "pro" },
  "X in Y days": { event: "opened", at_least: 2, in_last_days: 14 },
};

async function timeExact(server: ServerProcess, users: number): Promise<void> {
  for (const [name, filter] of Object.entries(FILTERS)) {
    const { seconds } = await exactly(server, filter);
    say(`  exact, ${name}: ${round(users / seconds)} users/s`);
  }
}

interface Speed {
  readonly perSecond: number;
  readonly p99: number;
}

/**
 * Tracks for some seconds.
 *
 * @param bodyOf makes each request, of 50 objects.
 * @param perSecond how many objects a second are sent, whether or not the server keeps up: latency counts from when a
 *   request was due. As many as possible by default.
 */
async function trackFor(
  server: ServerProcess,
  seconds: number,
  bodyOf: () => object,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<Speed> {
  const beganAt = performance.now();
  const until = beganAt + 1_000 * seconds;
  const betweenMs = 50_000 / perSecond;
  const times: number[] = [];
  let sent = 0;
  await onConnections(async () => {
    const dueAt = Math.max(beganAt + betweenMs * sent++, betweenMs > 0 ? 0 : performance.now());
    if (dueAt >= until) return false;
    if (dueAt > performance.now()) await sleep(dueAt - performance.now());
    await track(server, bodyOf());
    times.push(performance.now() - dueAt);
    return performance.now() < until;
  });
  times.sort((one, other) => one - other);
  return {
    perSecond: (50 * times.length) / seconds,
    p99: times[Math.floor(0.99 * (times.length - 1))] ?? 0,
  };
}

const shown = ({ perSecond, p99 }: Speed) => `${round(perSecond)} updates/s, p99 ${round(p99)} ms`;

async function trackBeside(
  server: ServerProcess,
  { users, seconds }: SegmentsOptions,
): Promise<void> {
  const known = () => ({
    attributes: Array.from({ length: 50 }, () => ({
      external_id: `u${Math.floor(Math.random() * users)}`,
      visits: Math.floor(Math.random() * 100),
    })),
  });
  await trackFor(server, 2, known);
  const full = await trackFor(server, seconds, known);
  const half = full.perSecond / 2;
  const beside = async (perSecond?: number) => {
    let goesOn = true;
    const counting = (async () => {
      while (goesOn) await exactly(server, FILTERS["X in Y days"]);
    })();
    const speed = await trackFor(server, seconds, known, perSecond);
    goesOn = false;
    await counting;
    return speed;
  };
  say(`  track, full load       ${shown(full)}`);
  say(`    beside a count       ${shown(await beside())}`);
  say(`  track, half load       ${shown(await trackFor(server, seconds, known, half))}`);
  say(`    beside a count       ${shown(await beside(half))}`);
}

const INDEX = `create index profiles_by_chance on profiles (workspace_id, (right(profile_id::text, 8) collate "C"))
  where (right(profile_id::text, 8) collate "C") < '40000000'`;

/** New users with and without the index of the sample, in turns. */
async function indexCost(
  server: ServerProcess,
  run: (statements: readonly string[]) => Promise<unknown>,
  seconds: number,
): Promise<void> {
  let created = 0;
  const fresh = () => ({
    attributes: Array.from({ length: 50 }, () => ({ external_id: `new${created++}`, plan: "pro" })),
  });
  const speeds = { with: 0, without: 0 };
  for (let turn = 0; turn < 2; turn++) {
    speeds.with += (await trackFor(server, seconds / 2, fresh)).perSecond / 2;
    await run(["drop index profiles_by_chance"]);
    speeds.without += (await trackFor(server, seconds / 2, fresh)).perSecond / 2;
    await run([INDEX]);
  }
  say(`  new users      ${round(speeds.with)}/s, without the index ${round(speeds.without)}/s`);
}
