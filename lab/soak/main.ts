import { Agent, request } from "node:http";
import { Command, InvalidArgumentError } from "commander";
import { nextHostileCase } from "./hostile.ts";
import { GROUP, nextRequest, type SoakRequest, WORKSPACE } from "./requests.ts";
import { type SoakServer, startServer } from "./server.ts";
import { createTally } from "./tally.ts";

/*
 * `npm run soak`: mixed load for a while; a share of it is hostile. It passes if no response is a
 * 5xx, regular requests are accepted, and the server's memory does not grow. lab/NOTEBOOK.md has
 * the result.
 */

const KEY = "api-key-of-the-soak-test";

const MANIFEST = {
  company: { name: "Soak" },
  workspaces: [
    {
      name: WORKSPACE,
      api_keys: [{ name: "soak", key: KEY, permissions: ["all"] }],
      settings: { rate_limits: { "users.track": "off", "users.export.ids": "off" } },
      subscription_groups: [{ id: GROUP, name: "Newsletter", channel: "email" }],
    },
  ],
};

interface Options {
  readonly minutes: number;
  readonly connections: number;
  readonly hostile: number;
  readonly databaseUrl?: string;
}

const above0 = (text: string): number => {
  const value = Number(text);
  if (value > 0) return value;
  throw new InvalidArgumentError("It must be a number above 0.");
};

new Command("soak")
  .description("Puts the server under mixed load, a share of it hostile, and watches its memory.")
  .option("--minutes <count>", "for how long", above0, 15)
  .option("--connections <count>", "how many requests are under way", above0, 16)
  .option("--hostile <percent>", "how many requests in a hundred are hostile", Number, 5)
  .option("--database-url <url>", "a PostgreSQL instead of the embedded engine; it must be empty")
  .action(async (options: Options) => {
    const server = await startServer(options.databaseUrl, { LOG_LEVEL: "warn" });
    try {
      process.exitCode = (await soak(server, options)) ? 0 : 1;
    } finally {
      const code = await server.stop();
      if (code !== 0) process.stdout.write(`The server ended with ${code}.\n`);
    }
  })
  .parseAsync();

const SAMPLE_EVERY_MS = 5_000;

async function soak(server: SoakServer, options: Options): Promise<boolean> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  const send = (wanted: SoakRequest) => sendRequest(agent, server, wanted);
  await send({
    kind: "manifest",
    method: "POST",
    path: "/admin/v1/apply",
    body: JSON.stringify(MANIFEST),
    by: "administrator",
  });
  const tally = createTally();
  const endsAt = Date.now() + options.minutes * 60_000;
  const { hostname, port } = new URL(server.url);
  const target = { host: hostname, port: Number(port), key: KEY };
  const sampling = setInterval(() => tally.memory(server.memory()), SAMPLE_EVERY_MS);

  const client = async (): Promise<void> => {
    while (Date.now() < endsAt) {
      if (Math.random() * 100 < options.hostile) {
        const hostile = nextHostileCase();
        tally.hostile(hostile.kind, await hostile.send(target));
        continue;
      }
      const wanted = nextRequest();
      const startedAt = performance.now();
      const status = await send(wanted);
      tally.wellMeant(wanted.kind, status, performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, client));
  clearInterval(sampling);
  agent.destroy();
  process.stdout.write(tally.report());
  return tally.hasPassed();
}

/** @returns the status; 0 if the connection broke. */
function sendRequest(agent: Agent, server: SoakServer, wanted: SoakRequest): Promise<number> {
  const token = { key: KEY, administrator: server.adminToken, nobody: undefined }[wanted.by];
  return new Promise((resolve) => {
    const sent = request(
      new URL(wanted.path, server.url),
      {
        agent,
        method: wanted.method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(wanted.body && {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(wanted.body),
          }),
        },
      },
      (answer) => {
        answer.resume().once("close", () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.once("error", () => resolve(0));
    sent.end(wanted.body);
  });
}
