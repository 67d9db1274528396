import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { ATTACKED, VICTIM_KEY } from "../attacked-server.ts";
import { type Attack, mustHold, scaled, type Target, tally, times } from "../target.ts";

/* Hosts that the attacker names and that never answer, or refuse everything: what waits for them takes nothing from others. */

const inWorkspace = (name: string, path: string) => `/admin/v1/workspaces/${name}/${path}`;

/** The filter of a segment, and its id by number. */
const filter = { attribute: "country", equals: "DE" };
const idOf = (number: number) => `66666666-0000-4000-8000-${String(number).padStart(12, "0")}`;

async function declareSegments(target: Target, workspace: string, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const path = inWorkspace(workspace, `segments/${idOf(number)}`);
    const { status, text } = await target.admin("PUT", path, { name: `s${number}`, filter });
    mustHold(status === 200, text);
  }
}

async function listen(answer: RequestListener): Promise<{ url: string; close(): void }> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

const tarpit = () => listen((request) => void request.resume());

/** How long a job of the other workspace may wait. */
const JOB_MS = 10_000;

async function countOfVictim(target: Target): Promise<void> {
  const path = inWorkspace("victim", "segments");
  const wanted = { filter, exact: true, wait_s: 0 };
  const { text } = await target.admin("POST", `${path}/count`, wanted);
  const { count_id } = JSON.parse(text) as { count_id: string };
  const startedAt = performance.now();
  for (;;) {
    const { text: found } = await target.admin("GET", `${path}/counts/${count_id}`);
    if ((JSON.parse(found) as { status: string }).status === "finished") return;
    mustHold(performance.now() - startedAt < JOB_MS, "A job of the other workspace waits.");
    await pause(50);
  }
}

const exportOf = (target: Target, number: number, more: object, token?: string) =>
  target.send(
    "POST",
    "/users/export/segment",
    { segment_id: idOf(number), fields_to_export: ["external_id"], ...more },
    { token },
  );

const CALLBACKS = 100;

const callbacks: Attack = {
  name: "100 exports whose callbacks never answer",
  before: "429 for the exports of all others, no job of others begins in 45 s",
  prepare: async (target) => {
    await declareSegments(target, ATTACKED, scaled(target, CALLBACKS));
    await declareSegments(target, "victim", 1);
  },
  async run(target) {
    const host = await tarpit();
    try {
      const numbers = times(scaled(target, CALLBACKS), (number) => number);
      const asked = { callback_endpoint: host.url };
      const started = await Promise.all(numbers.map((number) => exportOf(target, number, asked)));
      const others = await exportOf(target, 0, {}, VICTIM_KEY);
      mustHold(others.status === 201, `An export of the other workspace got ${others.status}.`);
      await countOfVictim(target);
      return `${tally(started)}; exports and jobs of others go on`;
    } finally {
      host.close();
    }
  },
};

const WEBHOOKS = 20;
const REFUSED_MS = 5_000;

/** A webhook gets a batch a second after a few refusals; its first ones come sooner. */
const MOST_PER_SECOND = 2.5;

const refusals: Attack = {
  name: "20 webhooks whose receiver refuses everything, with 1,000 changes",
  before: "250 deliveries a second; others' track p99 341 ms",
  async run(target) {
    let requests = 0;
    const host = await listen((request, response) => {
      requests++;
      request.resume();
      response.writeHead(400).end();
    });
    const path = (number: number) => inWorkspace(ATTACKED, `webhooks/refuses-${number}`);
    const webhooks = times(scaled(target, WEBHOOKS), (number) => number);
    try {
      for (const number of webhooks) {
        const body = { name: `refuses ${number}`, url: host.url };
        const { status, text } = await target.admin("PUT", path(number), body);
        mustHold(status === 200, text);
      }
      for (let batch = 0; batch < scaled(target, 20); batch++) {
        const attributes = times(50, (user) => ({ external_id: `refused-${batch}-${user}` }));
        await target.send("POST", "/users/track", { attributes });
      }
      const startedAt = performance.now();
      const before = requests;
      await pause(REFUSED_MS);
      const perSecond = ((requests - before) * 1_000) / (performance.now() - startedAt);
      mustHold(
        perSecond <= MOST_PER_SECOND * webhooks.length,
        `The receiver got ${Math.round(perSecond)} batches a second.`,
      );
      return `${Math.round(perSecond)} batches a second`;
    } finally {
      for (const number of webhooks) await target.admin("DELETE", path(number));
      host.close();
    }
  },
};

export const WAITING_ATTACKS: readonly Attack[] = [callbacks, refusals];
