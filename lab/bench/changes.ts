import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inFolder, openEngines, say } from "./benchmark.ts";
import type { Dataset, Engine } from "./engines/engine.ts";
import type { LoadResult } from "./load/generate.ts";
import { measure, rateOf, tableOf } from "./observe.ts";
import type { Round } from "./phase.ts";
import { type Child, startChild } from "./processes/child.ts";
import type { CleanUp } from "./processes/clean-up.ts";
import { ADMIN_TOKEN, API_KEY, type ServerProcess, startServer } from "./processes/server.ts";
import { median } from "./ratios.ts";
import { prepareDataset } from "./stage.ts";
import { track } from "./workloads/track.ts";

/*
 * The cost of the change feed and of a webhook: the same load on servers without and with them, one
 * after the other within each round, in another order each time. Then how fast a webhook delivers
 * the changes gathered while it was paused, to a receiver that responds after 20 ms, and how soon a
 * waiting reader has a change. Load, server, database and receiver share the machine.
 */

export interface ChangesOptions {
  readonly engine: Engine["name"] | "both";
  readonly users: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly databaseUrl: string | undefined;
}

const WARM_UP_SECONDS = 3;
const RESPONDS_AFTER_MS = 20;
const WEBHOOK = "crm";

const VARIANTS = ["the feed is off", "the feed is on", "and a webhook delivers it"] as const;

/** Prints updates per second of each variant, its ratio to the first, and how fast the webhook catches up. */
export async function runChangesBenchmark(options: ChangesOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    const wanted = { ...options, profile: undefined };
    for (const engine of await openEngines(wanted, folder, cleanUp)) {
      await measureOn(engine, options, folder, cleanUp);
    }
  });
}

interface Variant {
  readonly name: string;
  readonly server: ServerProcess;
  readonly dataset: Dataset;
  readonly rounds: Round[];
}

async function measureOn(
  engine: Engine,
  { users, seconds, rounds }: ChangesOptions,
  folder: string,
  cleanUp: CleanUp,
): Promise<void> {
  const seed = { users, statistics: true, addresses: false };
  const prepared = await prepareDataset(engine, seed, folder);
  cleanUp.add(() => prepared.remove());
  const receiver = await startReceiver(cleanUp);
  const load = await startChild("load", { workload: track.name, users });
  cleanUp.add(() => load.stop());
  const variants: Variant[] = [];
  for (const [place, name] of VARIANTS.entries()) {
    const dataset = await prepared.copy();
    cleanUp.add(() => dataset.remove());
    const environment = { ...dataset.environment, OUTBOUND_ALLOW: "127.0.0.1" };
    const server = await startServer(environment, { folder, workers: 1 });
    cleanUp.add(() => server.stop());
    const administer = administrationOf(server);
    await administer("PUT", "/settings", {
      change_feed: place > 0,
      rate_limits: { "users.track": "off" },
    });
    if (place === 2) await declareWebhook(administer, receiver.url, "active");
    variants.push({ name, server, dataset, rounds: [] });
    await measure(load, { server, dataset }, WARM_UP_SECONDS);
  }
  for (let round = 0; round < rounds; round++) {
    say(`${engine.name}: round ${round + 1} of ${rounds}`);
    for (const [place] of variants.entries()) {
      const each = variants[(place + round) % variants.length] as Variant;
      each.rounds.push(await measure(load, each, seconds / rounds));
    }
  }
  process.stdout.write(`\n${engine.version}, ${users} users\n${tableOf(variants)}\n`);
  await measureDelivery(load, variants, receiver, seconds);
  await measureVisibility(load, variants[1] as Variant, seconds);
}

const SHARE = 0.3;
const PROBE_EVERY_MS = 100;

/** At a share of what track reaches: from the response to a new user until a reader that waits has the change. */
async function measureVisibility(load: Child, variant: Variant, seconds: number): Promise<void> {
  const { url } = variant.server;
  const { connections, unitsPerRequest } = track;
  const requestsPerSecond = (median(variant.rounds.map(rateOf)) * SHARE) / unitsPerRequest;
  const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
  const arrivals = new Map<string, number>();
  const responses = new Map<string, number>();
  let isOver = false;
  const read = async (cursor: string | undefined): Promise<void> => {
    const place = cursor === undefined ? "wait_s=0" : `wait_s=1&cursor=${cursor}`;
    const response = await fetch(`${url}/changes?types=user.created&${place}`, { headers });
    const page = (await response.json()) as {
      cursor: string;
      changes: { user: { external_id: string } }[];
    };
    for (const { user } of page.changes) arrivals.set(user.external_id, performance.now());
    if (!isOver) await read(page.cursor);
  };
  const reading = read(undefined);
  const loading = load
    .call<LoadResult>({ url, connections, seconds, requestsPerSecond })
    .finally(() => {
      isOver = true;
    });
  for (let probe = 0; !isOver; probe++) {
    const external_id = `probe-${probe}`;
    const body = JSON.stringify({ attributes: [{ external_id, plan: "pro" }] });
    await (await fetch(`${url}/users/track`, { method: "POST", headers, body })).arrayBuffer();
    responses.set(external_id, performance.now());
    await sleep(PROBE_EVERY_MS);
  }
  await Promise.all([reading, loading]);
  const waits = [...responses]
    .flatMap(([id, at]) => Math.max(0, (arrivals.get(id) ?? Number.NaN) - at))
    .filter((ms) => !Number.isNaN(ms))
    .sort((one, other) => one - other);
  const at = (share: number) => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(0);
  process.stdout.write(
    `a waiting reader had ${waits.length} of ${responses.size} changes ${at(0.5)} ms (median) and ${at(0.99)} ms (p99) after the response, at ${SHARE * 100} % load\n`,
  );
}

/** Lets changes gather while the webhook is paused, and times their delivery with nothing else to do. */
async function measureDelivery(
  load: Child,
  variants: readonly Variant[],
  receiver: Receiver,
  seconds: number,
): Promise<void> {
  const [, withFeed, withWebhook] = variants as [Variant, Variant, Variant];
  const administer = administrationOf(withWebhook.server);
  const idle = async () => {
    const { behind_since } = await administer("GET", `/webhooks/${WEBHOOK}`);
    return behind_since === null;
  };
  while (!(await idle())) await sleep(200);
  await declareWebhook(administer, receiver.url, "paused");
  await measure(load, withWebhook, seconds / 2);
  const before = receiver.count();
  const startedAt = performance.now();
  await declareWebhook(administer, receiver.url, "active");
  let last = before;
  let lastAt = startedAt;
  // Caught up: nothing more has come for a second.
  while (performance.now() - lastAt < 1_000 || last === before) {
    await sleep(50);
    if (receiver.count() === last) continue;
    last = receiver.count();
    lastAt = performance.now();
  }
  const rate = (last - before) / ((lastAt - startedAt) / 1_000);
  const taken = median(withFeed.rounds.map(rateOf));
  process.stdout.write(
    `delivered ${last - before} changes, ${rate.toFixed(0)} a second: ${(rate / taken).toFixed(2)} of what track takes in with the feed on\n`,
  );
}

interface Receiver {
  readonly url: string;
  /** How many changes have come. */
  count(): number;
}

async function startReceiver(cleanUp: CleanUp): Promise<Receiver> {
  let count = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { changes } = JSON.parse(Buffer.concat(parts).toString()) as { changes: unknown[] };
    await sleep(RESPONDS_AFTER_MS);
    count += changes.length;
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.add(async () => server.closeAllConnections());
  cleanUp.add(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, count: () => count };
}

type Administer = (method: string, path: string, body?: unknown) => Promise<any>;

const administrationOf =
  ({ url }: ServerProcess): Administer =>
  async (method, path, body) => {
    const response = await fetch(`${url}/admin/v1/workspaces/bench${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };

const declareWebhook = (administer: Administer, url: string, state: string): Promise<any> =>
  administer("PUT", `/webhooks/${WEBHOOK}`, { name: "CRM", url, state });
