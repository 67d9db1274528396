import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { textLinesOf } from "../../src/core/base/lines.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { inFolder, openEngines, say } from "./benchmark.ts";
import type { Engine } from "./engines/engine.ts";
import { memoryOf } from "./processes/process-table.ts";
import { ADMIN_TOKEN, type ServerProcess, startServer } from "./processes/server.ts";

/*
 * Files of users and events through `rapport import`, killed and resumed on the way, and back through
 * `rapport export`: how fast, with how much memory, and whether every row comes back, once and unchanged.
 */

export interface TransferOptions {
  readonly engine: Engine["name"] | "both";
  readonly users: number;
  readonly eventsPerUser: number;
  readonly kills: number;
  readonly databaseUrl: string | undefined;
}

type Kind = "users" | "events";

export async function runTransferBenchmark(options: TransferOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    for (const engine of await openEngines({ ...options, profile: undefined }, folder, cleanUp)) {
      const dataset = await engine.create();
      cleanUp.add(() => dataset.remove());
      const server = await startServer(dataset.environment, { folder, workers: 1 });
      cleanUp.add(() => server.stop());
      const lines = [
        ...(await transfer("users", usersOf(options), server, folder, options.kills)),
        ...(await transfer("events", eventsOf(options), server, folder, options.kills)),
      ];
      process.stdout.write(
        `\n${engine.version}\n\n| | rows | seconds | rows/s | kills | command, most MB | server, most MB |\n` +
          `|---|---|---|---|---|---|---|\n${lines.join("\n")}\n`,
      );
    }
  });
}

/** Imports rows, exports them again, and compares. @returns a line of the table for each. @throws if a row differs. */
async function transfer(
  kind: Kind,
  rows: () => Iterable<string>,
  server: ServerProcess,
  folder: string,
  kills: number,
): Promise<string[]> {
  const given = join(folder, `${kind}.ndjson`);
  await writeRows(given, rows());
  say(`importing ${kind}`);
  const imported = await importWithKills(kind, given, server, kills);
  const returned = join(folder, `${kind}-exported.ndjson`);
  say(`exporting ${kind}`);
  const exported = await runCommand(["export", kind, returned], server);
  if (exported.code !== 0) throw new Error(`The export of ${kind} failed.`);
  const [before, after] = [await digestOf(kind, given), await digestOf(kind, returned)];
  if (before.digest !== after.digest) {
    throw new Error(
      `${before.rows} ${kind} were imported, ${after.rows} exported, and they differ.`,
    );
  }
  say(`${after.rows} ${kind} came back unchanged`);
  return [
    lineOf(`${kind} imported`, before.rows, { ...imported, kills }),
    lineOf(`${kind} exported`, after.rows, { ...exported, kills: 0 }),
  ];
}

/** The command is killed with SIGKILL as it passes equal parts of the file, and started again with `--resume`. */
async function importWithKills(kind: Kind, path: string, server: ServerProcess, kills: number) {
  const total = { seconds: 0, commandBytes: 0, serverBytes: 0 };
  const { size } = await stat(path);
  for (let killed = 0; ; killed++) {
    const args = ["import", kind, path, ...(killed > 0 ? ["--resume"] : [])];
    const part = (100 * (killed + 1)) / (kills + 1);
    const ran = await runCommand(args, server, (done) => killed < kills && done >= part);
    total.seconds += ran.seconds;
    total.commandBytes = Math.max(total.commandBytes, ran.commandBytes);
    total.serverBytes = Math.max(total.serverBytes, ran.serverBytes);
    if (ran.code === 0 && killed === kills) return total;
    if (ran.code !== undefined) {
      throw new Error(
        `The import ended with ${ran.code} after ${killed} of ${kills} kills; ${size} bytes are too few for more.`,
      );
    }
  }
}

interface Ran {
  /** Undefined if it was killed. */
  readonly code: number | undefined;
  readonly seconds: number;
  readonly commandBytes: number;
  readonly serverBytes: number;
}

/**
 * Runs a command of the program.
 *
 * @param isToDie is asked with the per cent that are done.
 */
export async function runCommand(
  args: readonly string[],
  server: ServerProcess,
  isToDie: (done: number) => boolean = () => false,
): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(packageRoot(), "dist/bundle/main.js"), ...args], {
    env: { PATH: process.env.PATH, RAPPORT_URL: server.url, ADMIN_TOKEN },
    stdio: ["ignore", "inherit", "pipe"],
  }) as ChildProcess & { stderr: Readable };
  let [commandBytes, serverBytes] = [0, 0];
  const sampling = setInterval(() => {
    commandBytes = Math.max(commandBytes, memoryOf(child.pid as number).peakBytes);
    serverBytes = Math.max(serverBytes, memoryOf(server.processId).peakBytes);
  }, 500);
  const ended = new Promise<number | undefined>((resolve) =>
    child.once("close", (code) => resolve(code ?? undefined)),
  );
  for await (const line of textLinesOf("standard error", child.stderr)) {
    say(`  ${line}`);
    if (isToDie(Number(/\((\d+) %\)/.exec(line)?.[1] ?? 0))) child.kill("SIGKILL");
  }
  const code = await ended;
  clearInterval(sampling);
  return { code, seconds: (performance.now() - startedAt) / 1_000, commandBytes, serverBytes };
}

const usersOf = ({ users }: TransferOptions) =>
  function* () {
    for (let n = 0; n < users; n++) {
      yield JSON.stringify({
        external_id: `user-${n}`,
        first_name: `N${n}`,
        email: n % 2 === 0 ? null : `user-${n}@example.com`,
        custom_attributes: { logins: n % 100, plan: n % 3 === 0 ? "gold" : "free" },
      });
    }
  };

const FIRST_TIME = Date.UTC(2026, 0, 1);

const eventsOf = ({ users, eventsPerUser }: TransferOptions) =>
  function* () {
    for (let n = 0; n < users * eventsPerUser; n++) {
      yield JSON.stringify({
        external_id: `user-${(n * 7919) % users}`,
        name: `event-${n % 20}`,
        time: new Date(FIRST_TIME + n * 1_000).toISOString(),
        properties: { n, source: n % 2 === 0 ? "web" : "app" },
      });
    }
  };

export const writeRows = (path: string, rows: Iterable<string>): Promise<void> =>
  pipeline(Readable.from(inChunks(rows)), createWriteStream(path));

function* inChunks(rows: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  for (const row of rows) {
    chunk.push(row);
    if (chunk.length < 1_000) continue;
    yield `${chunk.join("\n")}\n`;
    chunk = [];
  }
  if (chunk.length > 0) yield `${chunk.join("\n")}\n`;
}

/**
 * A hash of the imported fields, the same for any order of the rows; a doubled row counts twice.
 */
async function digestOf(kind: Kind, path: string): Promise<{ rows: number; digest: string }> {
  let [rows, sum] = [0, 0n];
  for await (const line of textLinesOf(path, createReadStream(path))) {
    const row = JSON.parse(line);
    const { custom_attributes: custom, properties } = row;
    const told =
      kind === "users"
        ? [row.external_id, row.first_name, row.email, custom.logins, custom.plan]
        : [row.external_id, row.name, row.time, properties.n, properties.source];
    const digest = createHash("sha256").update(JSON.stringify(told)).digest();
    sum = BigInt.asUintN(64, sum + digest.readBigUInt64BE());
    rows++;
  }
  return { rows, digest: `${rows} ${sum}` };
}

function lineOf(
  name: string,
  rows: number,
  ran: { seconds: number; commandBytes: number; serverBytes: number; kills: number },
): string {
  const whole = (value: number) => Math.round(value).toLocaleString("en-US");
  const cells = [
    whole(rows),
    whole(ran.seconds),
    whole(rows / ran.seconds),
    String(ran.kills),
    whole(ran.commandBytes / 1_048_576),
    whole(ran.serverBytes / 1_048_576),
  ];
  return `| ${[name, ...cells].join(" | ")} |`;
}
