import { join } from "node:path";
import type { Duplex } from "node:stream";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { type SoakServer, startServer } from "../soak/server.ts";
import type { ProbeCommand, ProbeReading } from "./server-probe.ts";

/*
 * The server under attack, as its users start it, with a probe inside. It has two workspaces: one
 * that is attacked (or whose key the attacker has), and one whose requests have to be served
 * meanwhile.
 */

export const VICTIM_KEY = "key-of-the-workspace-beside-the-attack";
export const ATTACKER_KEY = "key-of-the-workspace-that-attacks-it";
export const SCIM_TOKEN = "scim-token-of-the-attacked-company";
export const SCIM_ORIGIN = "attack.example";
export const ATTACKED = "attacked";

export const GROUP = "44444444-0000-4000-8000-000000000001";
export const SPANISH = "11111111-0000-4000-8000-000000000001";
export const MESSAGE = "33333333-0000-4000-8000-000000000001";

/** Limits that would otherwise refuse attacks before they do anything. */
const UNLIMITED = [
  "users.track",
  "users.export.ids",
  "users.export.segment",
  "users.merge",
  "preference_center.update",
];

const workspace = (name: string, key: string) => ({
  name,
  api_keys: [{ name: "attack", key, permissions: ["all"] }],
  settings: {
    multi_language: true,
    rate_limits: Object.fromEntries(UNLIMITED.map((permission) => [permission, "off"])),
  },
  subscription_groups: [{ id: GROUP, name: "Newsletter", channel: "email" }],
  locales: [
    { id: SPANISH, name: "Spanish", country: "Mexico", language: "Spanish", locale_key: "es-MX" },
  ],
  campaigns: [
    {
      id: "22222222-0000-4000-8000-000000000001",
      name: "Welcome",
      messages: [
        { id: MESSAGE, channel: "email", multi_language: true, source: { id_0: "Hello" } },
      ],
    },
  ],
});

const MANIFEST = {
  company: {
    name: "Attack",
    scim_tokens: [{ name: "idp", token: SCIM_TOKEN, service_origin: SCIM_ORIGIN }],
  },
  workspaces: [workspace("victim", VICTIM_KEY), workspace(ATTACKED, ATTACKER_KEY)],
};

export interface AttackedServer extends SoakServer {
  /** The measurements of the probe since the last reading. */
  read(): Promise<ProbeReading>;
  /** Moves the clock of the server. */
  moveClock(aheadMs: number): Promise<void>;
}

/** @param databaseUrl an empty PostgreSQL database; undefined for the embedded engine. */
export async function startAttackedServer(
  databaseUrl: string | undefined,
  settings: Readonly<Record<string, string>> = {},
): Promise<AttackedServer> {
  const probe = join(packageRoot(), "dist/lab/attack/server-probe.js");
  const server = await startServer(
    databaseUrl,
    { LOG_LEVEL: "silent", OUTBOUND_ALLOW: "127.0.0.1", ...settings },
    ["--import", probe],
  );
  const ask = askOver(server.channel as Duplex);
  const applied = await fetch(`${server.url}/admin/v1/apply`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(MANIFEST),
  });
  if (!applied.ok) throw new Error(`The manifest was refused: ${await applied.text()}`);
  return {
    ...server,
    read: () => ask({ read: true }) as Promise<ProbeReading>,
    moveClock: async (clockAheadMs) => void (await ask({ clockAheadMs })),
  };
}

/** Commands are answered in their order. */
function askOver(channel: Duplex): (command: ProbeCommand) => Promise<unknown> {
  const waiting: ((answer: unknown) => void)[] = [];
  let heard = "";
  channel.setEncoding("utf8").on("data", (text: string) => {
    heard += text;
    const lines = heard.split("\n");
    heard = lines.pop() ?? "";
    for (const line of lines) waiting.shift()?.(JSON.parse(line));
  });
  return (command) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      channel.write(`${JSON.stringify(command)}\n`);
    });
}
