/*
 * Backups that were damaged or edited, with a right checksum too: each is restored exactly as the file says, or refused
 * with nothing written. `FORGED_BACKUPS=10000 npm run test:compiled -- forged-backups` tries many (lab/attacks.md).
 */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { createGzip, gunzipSync, gzipSync } from "node:zlib";
import {
  BackupUnreadable,
  verifyBackup,
  writeBackup,
} from "../../src/core/database/backup/backup-file.ts";
import { dumpDatabase, readTables } from "../../src/core/database/backup/dump-database.ts";
import { loadDatabase, refuseForeignSchema } from "../../src/core/database/backup/load-database.ts";
import type { Database, Transaction } from "../../src/core/database/database.ts";
import { openEmbedded } from "../../src/core/database/embedded/pglite.ts";
import { migrate } from "../../src/core/database/migrations/migrate.ts";
import { openPostgres } from "../../src/core/database/postgres/postgres.ts";
import { AWKWARD_TEXT } from "../awkward-text.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { ENGINE, startOwnServer } from "../harness.ts";
import { sized } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";

const TRIED = Number(process.env.FORGED_BACKUPS) || sized(12, 500);

/** Databases that are tried at a time: a restore mostly waits for the database. */
const LANES = 4;

const MEGABYTE = 1_048_576;

const isCluster = (process.env.TEST_CITUS_WORKERS ?? "") !== "";

/** The same numbers for the same seed, between 0 and 1. */
function randomFrom(seed: number) {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (end: number) => Math.floor(random() * end);
  const one = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  return { below, one };
}

type Random = ReturnType<typeof randomFrom>;

const NASTY = [
  "",
  "0",
  "-1",
  "now",
  "infinity",
  "NaN",
  "'); drop table companies; --",
  "{}",
  "[]",
  "\u0000",
  "\u202e",
  "99999999999999999999",
  AWKWARD_TEXT,
];

const TYPES = [
  "text || pg_read_file('/etc/hostname')",
  "text",
  "uuid",
  "bigint",
  "json",
  "regclass",
  "text); drop table companies; --",
];

const TABLES = ["companies", "workspaces", "pg_authid", 'x" cascade; --', 5, null];

const COLUMNS = ["name", "id", 'x") select 1; --', "workspace_id", null];

/** A line of a row with one of its values changed, in a form that JSON has. */
function editRow(line: string, { below, one }: Random): string {
  const row = JSON.parse(line) as unknown[];
  const at = below(row.length);
  const edits = [
    () => row.splice(at, 1),
    () => row.splice(at, 0, one(NASTY)),
    () => row.splice(at, 1, one(NASTY)),
    () => row.splice(at, 1, null),
    () => row.splice(at, 1, below(100)),
    () => row.splice(at, 1, { a: [1] }),
    () => row.splice(at, 1, [["nested"]]),
    () => row.splice(at, 1, `${row[at] ?? ""} `),
    () =>
      row.splice(
        at,
        1,
        `${row[at] ?? ""}`.replace(/\d/, () => `${below(10)}`),
      ),
    () =>
      row.splice(
        at,
        1,
        `${row[at] ?? ""}`.replace(/[a-z]/, () => one([..."abcdefz"])),
      ),
  ];
  one(edits)();
  return JSON.stringify(row);
}

function editTable(line: string, { below, one }: Random): string {
  const header = JSON.parse(line) as {
    table: unknown;
    columns: { name: unknown; type: unknown }[];
  };
  const column = header.columns[below(header.columns.length)];
  const edits = [
    () => Object.assign(header, { table: one(TABLES) }),
    () => Object.assign(column ?? {}, { type: one(TYPES) }),
    () => Object.assign(column ?? {}, { name: one(COLUMNS) }),
    () => header.columns.splice(below(header.columns.length), 1),
    () => header.columns.reverse(),
    () => Object.assign(header, { columns: one([null, {}, "text", []]) }),
    () => Object.assign(header, { rows: 0, sha256: "0" }),
  ];
  one(edits)();
  return JSON.stringify(header);
}

function editHeader(line: string, { below, one }: Random): string {
  const header = JSON.parse(line) as { migrations: Record<string, string> };
  const names = Object.keys(header.migrations);
  const edits = [
    () => delete header.migrations[names[below(names.length)] as string],
    () => delete header.migrations[names.at(-1) as string],
    () => Object.assign(header.migrations, { "9999-new.sql": "0" }),
    () => Object.assign(header, { migrations: one([null, {}, [], "x", { a: 1 }]) }),
    () => Object.assign(header, { version: one([null, 5, "\u001b[2J"]) }),
    () => Object.assign(header, { rapport_backup: one([2, "1", null]) }),
  ];
  one(edits)();
  return JSON.stringify(header);
}

/** All lines but the last, edited. */
function editLines(lines: readonly string[], random: Random): string[] {
  const { below, one } = random;
  const edited = [...lines];
  const at = below(edited.length);
  const line = edited[at] as string;
  const edits = [
    () => edited.splice(at, 1),
    () => edited.splice(at, 0, line),
    () => edited.splice(at, 1, edited[below(edited.length)] as string),
    () =>
      edited.splice(
        below(edited.length),
        0,
        one(["", "[]", "{}", "null", "[null]", "[", "\u2028"]),
      ),
    () => edited.splice(at, 1, line.slice(0, below(line.length))),
    () => {
      const where = below(line.length);
      edited.splice(
        at,
        1,
        line.slice(0, where) + one([...'0aZ"\\,[]{}\u00e9']) + line.slice(where + 1),
      );
    },
    ...Array.from({ length: 8 }, () => () => {
      const edit = at === 0 ? editHeader : line.startsWith("[") ? editRow : editTable;
      edited.splice(at, 1, edit(line, random));
    }),
    () => edited.splice(0, 1, editHeader(edited[0] as string, random)),
  ];
  one(edits)();
  return edited;
}

function withEnd(lines: readonly string[]): Buffer {
  const text = lines.map((line) => `${line}\n`).join("");
  const rows = lines.filter((line) => line.startsWith("[")).length;
  const sha256 = createHash("sha256").update(text).digest("hex");
  return gzipSync(`${text}${JSON.stringify({ rows, sha256 })}\n`, { level: 1 });
}

/** A backup of these lines and a last one of 700 MB, made in pieces: what making it takes would count as the restore's. */
async function withHugeLine(lines: readonly string[]): Promise<Buffer> {
  const hash = createHash("sha256");
  const gzip = createGzip({ level: 1 });
  const file = buffer(gzip);
  const write = async (text: string) => {
    hash.update(text);
    if (!gzip.write(text)) await once(gzip, "drain");
  };
  for (const line of lines) await write(`${line}\n`);
  await write('["');
  const piece = "x".repeat(MEGABYTE);
  for (let megabytes = 0; megabytes < 700; megabytes++) await write(piece);
  await write('"]\n');
  const rows = lines.filter((line) => line.startsWith("[")).length + 1;
  gzip.end(`${JSON.stringify({ rows, sha256: hash.digest("hex") })}\n`);
  return file;
}

function flipBytes(file: Buffer, { below, one }: Random): Buffer {
  const bytes = Buffer.from(file);
  for (let flips = one([1, 1, 2, 20]); flips > 0; flips--) {
    bytes[below(bytes.length)] = below(256);
  }
  const at = below(bytes.length);
  return one([
    () => bytes,
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(below(at + 1))]),
    () => Buffer.concat([bytes, file]),
  ])();
}

/** The rows of every table of a file, in one order. */
const rowsIn = (lines: readonly string[]): string[] => {
  let table = "";
  const rows: string[] = [];
  for (const line of lines.slice(1)) {
    if (line.startsWith("[")) rows.push(`${table} ${JSON.stringify(JSON.parse(line))}`);
    else table = (JSON.parse(line) as { table: string }).table;
  }
  return rows.sort();
};

const linesIn = (file: Buffer): string[] => gunzipSync(file).toString().split("\n").slice(0, -2);

async function openTarget(): Promise<Database> {
  const url = await freshDatabase();
  const database =
    url === undefined ? await openEmbedded("memory:") : await openPostgres(url, 60, false);
  await migrate(database);
  return database;
}

/** How many rows each table has; those without any are left out. */
const countRows = async (tx: Transaction): Promise<Record<string, number>> => {
  const counts = (await readTables(tx)).map(
    ({ table }) => `select '${table}' as name, count(*)::int as rows from "${table}"`,
  );
  // A process for each part of a hundred tiny tables would take most of the time.
  await tx.query("set local max_parallel_workers_per_gather = 0");
  const filled = await tx.query<{ name: string; rows: number }>(
    `select * from (${counts.join(" union all ")}) as counted where rows > 0 order by name`,
  );
  return Object.fromEntries(filled.map(({ name, rows }) => [name, rows]));
};

/**
 * The embedded engine's memory is part of this process, so the restore's could not be told apart.
 */
const skip =
  ENGINE !== "postgres"
    ? "it needs a PostgreSQL: set TEST_DATABASE_URL"
    : isCluster && "a cluster has no backups";

describe("a damaged or edited backup", { skip }, () => {
  test("each forged backup is restored exactly as it says, or refused with nothing written and little memory", {
    timeout: 4 * 3_600_000,
  }, async (context) => {
    const server = await startOwnServer();
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ external_id: "ada", email: "ada@acme.example", note: AWKWARD_TEXT }],
      events: [{ external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" }],
      purchases: [
        {
          external_id: "ada",
          product_id: "p",
          currency: "USD",
          price: 2,
          time: "2026-01-01T12:00:00Z",
        },
      ],
    });
    const folder = await temporaryFolder();
    const dump = async (database: Database, name: string): Promise<Buffer> => {
      const path = join(folder, `${name}-${randomUUID()}`);
      await writeBackup(path, (writer) => dumpDatabase(database, "0", writer, () => {}));
      const file = await readFile(path);
      await rm(path);
      return file;
    };
    const whole = await dump(server.database, "whole");
    const lines = linesIn(whole);
    const huge = await withHugeLine(lines);
    const before = process.memoryUsage().rss;
    const figures = { tried: 0, restored: 0, refused: 0, mostMegabytes: 0 };

    /** Tries forged backups on a separate database, one after the other. */
    async function tryMany(lane: number, tries: number): Promise<void> {
      const random = randomFrom(20_260_101 + lane);
      const target = await openTarget();
      after(() => target.close());
      const path = join(folder, `forged-${lane}.backup`);
      const restore = async (content: Buffer): Promise<boolean> => {
        await writeFile(path, content);
        try {
          const summary = await verifyBackup(path);
          await refuseForeignSchema(path, summary.header);
          await loadDatabase(target, path, summary, () => {});
          return true;
        } catch (error) {
          if (!(error instanceof BackupUnreadable)) throw error;
          return false;
        }
      };
      const pristine = await dump(target, "pristine");
      const clear = () =>
        target.transaction(async (tx) => {
          const filled = Object.keys(await countRows(tx)).map((name) => `"${name}"`);
          await tx.query(`truncate ${filled.join(", ")}`);
        });
      assert.ok(await restore(withEnd(lines)));
      assert.deepEqual(rowsIn(linesIn(await dump(target, "first"))), rowsIn(lines));
      await clear();
      assert.ok(await restore(pristine));
      const empty = await target.transaction(countRows);
      for (let tried = 0; tried < tries; tried++) {
        const edited = (tried + 50 * lane) % 200 === 3 ? huge : withEnd(editLines(lines, random));
        const content = tried % 2 === 0 ? flipBytes(whole, random) : edited;
        const isRestored = await restore(content);
        const megabytes = Math.round((process.memoryUsage().rss - before) / MEGABYTE);
        figures.mostMegabytes = Math.max(figures.mostMegabytes, megabytes);
        figures.tried += 1;
        if (!isRestored) {
          figures.refused += 1;
          assert.deepEqual(
            await target.transaction(countRows),
            empty,
            `forged backup ${lane}.${tried}`,
          );
          continue;
        }
        figures.restored += 1;
        const stored = linesIn(await dump(target, "stored"));
        assert.deepEqual(
          rowsIn(stored),
          rowsIn(linesIn(content)),
          `forged backup ${lane}.${tried}`,
        );
        await clear();
        assert.ok(await restore(pristine));
      }
    }

    await Promise.all(
      Array.from({ length: LANES }, (_, lane) => tryMany(lane, Math.ceil(TRIED / LANES))),
    );
    context.diagnostic(JSON.stringify(figures));
    assert.ok(figures.mostMegabytes < 300, JSON.stringify(figures));
    assert.ok(figures.refused > figures.tried / 2, JSON.stringify(figures));
  });
});
