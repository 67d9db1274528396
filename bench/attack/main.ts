import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../test/free-port.ts";
import { type SoakServer, startServer } from "../soak/server.ts";
import { ATTACKS, type Attack, type Target } from "./attacks.ts";

/*
 * `npm run attack`: runs every attack against a server that it starts itself on this machine, and beside each asks
 * /health/live and sends track requests of another workspace. It prints what they and the server felt of it.
 */

const VICTIM_KEY = "key-of-the-workspace-beside-the-attack";
const ATTACKER_KEY = "key-of-the-workspace-that-attacks-it";

const workspace = (name: string, key: string) => ({
  name,
  api_keys: [{ name: "attack", key, permissions: ["all"] }],
  settings: { rate_limits: { "users.track": "off", "users.export.ids": "off" } },
});

const MANIFEST = {
  company: { name: "Attack" },
  workspaces: [workspace("victim", VICTIM_KEY), workspace("attacker", ATTACKER_KEY)],
};

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

interface Effect {
  worstHealthMs: number;
  served: number;
  refused: number;
  memory: number;
  delayMs: number;
}

async function send(url: string, token: string, body: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

/** The longest delay of the server's event loop since the last time this was asked, in milliseconds. */
async function eventLoopDelay(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1_000;
}

async function measure(server: SoakServer, metricsUrl: string, attack: Attack): Promise<Effect> {
  const { hostname, port } = new URL(server.url);
  const target: Target = {
    host: hostname,
    port: Number(port),
    key: ATTACKER_KEY,
    post: (path, body) => send(server.url + path, ATTACKER_KEY, body),
  };
  const effect: Effect = { worstHealthMs: 0, served: 0, refused: 0, memory: 0, delayMs: 0 };
  let isOver = false;
  const beside = async (turn: () => Promise<void>) => {
    while (!isOver) {
      await turn();
      await pause(20);
    }
  };
  await eventLoopDelay(metricsUrl);
  const others = [
    beside(async () => {
      const startedAt = performance.now();
      await fetch(`${server.url}/health/live`);
      effect.worstHealthMs = Math.max(effect.worstHealthMs, performance.now() - startedAt);
      effect.memory = Math.max(effect.memory, server.memory());
    }),
    beside(async () => {
      const status = await send(`${server.url}/users/track`, VICTIM_KEY, JSON.stringify(EVENT));
      if (status === 201) effect.served++;
      else effect.refused++;
    }),
  ];
  await attack.run(target);
  isOver = true;
  await Promise.all(others);
  effect.delayMs = await eventLoopDelay(metricsUrl);
  return effect;
}

const metricsPort = await freePort();
const server = await startServer(process.env.DATABASE_URL, { METRICS_PORT: String(metricsPort) });
try {
  await send(`${server.url}/admin/v1/apply`, server.adminToken, JSON.stringify(MANIFEST));
  const rows = [
    "| attack | before | worst health | track served / refused | event loop | memory |",
    "|---|---|---|---|---|---|",
  ];
  for (const attack of ATTACKS) {
    const { worstHealthMs, served, refused, delayMs, memory } = await measure(
      server,
      `http://127.0.0.1:${metricsPort}/metrics`,
      attack,
    );
    rows.push(
      `| ${attack.name} | ${attack.before} | ${Math.round(worstHealthMs)} ms | ` +
        `${served} / ${refused} | ${Math.round(delayMs)} ms | ${memory} MB |`,
    );
    process.stdout.write(`${rows.splice(0).join("\n")}\n`);
  }
} finally {
  await server.stop();
}
