import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import postgres from "postgres";
import { startCluster } from "../bench/engines/postgres-cluster.ts";
import { startAttackedServer } from "./attacked-server.ts";
import { ATTACKS } from "./attacks/attacks.ts";
import { stoppedDatabase } from "./attacks/database.ts";
import { brokenBound, type Effect, measure } from "./measure.ts";
import { type Attack, targetOf } from "./target.ts";

/*
 * `npm run attack`: runs every attack against a server that it starts itself on this machine, and
 * beside each asks /health/live and sends track requests of another workspace. It prints the
 * effects on them and on the server, and exits with 1 if a defence failed. lab/attacks.md
 * has the result.
 */

const STALL_MS = 50;

interface Run {
  readonly databaseUrl: string | undefined;
  readonly settings?: Readonly<Record<string, string>>;
  readonly attacks: readonly Attack[];
}

async function attackAll({ databaseUrl, settings, attacks }: Run): Promise<boolean> {
  const server = await startAttackedServer(databaseUrl, { WEB_CONCURRENCY: "1", ...settings });
  let held = true;
  try {
    for (const attack of attacks) {
      const effect = await measure(attack, targetOf(server));
      held = report(attack, effect) && held;
    }
  } finally {
    const code = await server.stop();
    if (code !== 0) process.stdout.write(`The server ended with ${code}.\n`);
    held = held && code === 0;
  }
  return held;
}

const HEAD = [
  "| attack | before | now | time | server CPU | longest stall | worst health (p99) | track served / refused | memory |",
  "|---|---|---|---:|---:|---:|---:|---:|---:|",
];

/** Writes a row. @returns whether the defence held. */
function report(attack: Attack, effect: Effect): boolean {
  const { name, before, stopsDatabase } = attack;
  const whole = (value: number) => Math.round(value).toLocaleString("en");
  const stalls = effect.longestStallMs > STALL_MS;
  const broken = brokenBound(attack, effect);
  const isFair = stopsDatabase || effect.refused === 0;
  const held = !effect.fault && !broken && !stalls && isFair;
  const cells = [
    held ? name : `**${name}**`,
    before,
    [effect.outcome, broken].filter(Boolean).join("; ").replaceAll("|", "\\|"),
    `${(effect.tookMs / 1_000).toFixed(1)} s`,
    `${whole(effect.processMs)} ms`,
    `${whole(effect.longestStallMs)} ms`,
    `${whole(effect.worstHealthMs)} ms (${whole(effect.healthP99Ms)})`,
    `${effect.served} / ${effect.refused}`,
    `${effect.memory} MB (+${effect.grownMb})`,
  ];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
  return held;
}

/** A database that is created for this and dropped afterwards. */
async function inOwnDatabase(
  url: string,
  run: (databaseUrl: string) => Promise<boolean>,
): Promise<boolean> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const name = `rapport_attack_${process.pid}`;
  await sql.unsafe(`create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  try {
    return await run(own.href);
  } finally {
    await sql.unsafe(`drop database ${name} with (force)`);
    await sql.end();
  }
}

/** On a separate PostgreSQL, since it gets SIGSTOP. Skipped where PostgreSQL is not installed. */
async function stopDatabase(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-attack-"));
  const cluster = await startCluster(folder);
  try {
    if (!cluster) return true;
    return await attackAll({
      databaseUrl: `${cluster.url}/postgres`,
      settings: { DATABASE_TIMEOUT: "3" },
      attacks: [stoppedDatabase(cluster)],
    });
  } finally {
    await cluster?.stop();
    await rm(folder, { recursive: true });
  }
}

const wanted = (parts: readonly string[], engine: "embedded" | "postgres") =>
  ATTACKS.filter(({ only = engine }) => only === engine).filter(
    ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
  );

new Command("attack")
  .description("Repeats the attacks of a penetration test against a server that it starts itself.")
  .argument("[part...]", "only attacks whose names contain one of these")
  .action(async (parts: string[]) => {
    const url = process.env.DATABASE_URL ?? process.env.TEST_DATABASE_URL;
    process.stdout.write(`${HEAD.join("\n")}\n`);
    const held = [
      url
        ? await inOwnDatabase(url, (databaseUrl) =>
            attackAll({ databaseUrl, attacks: wanted(parts, "postgres") }),
          )
        : await attackAll({ databaseUrl: undefined, attacks: wanted(parts, "embedded") }),
      parts.length === 0 ? await stopDatabase() : true,
    ];
    process.exitCode = held.every(Boolean) ? 0 : 1;
    if (process.exitCode) process.stdout.write("\nA defence did not hold: see the rows in bold.\n");
    // Connections that an attack left open would keep the process.
    process.exit();
  })
  .parseAsync();
