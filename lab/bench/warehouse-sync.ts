import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { UNGUARDED } from "../../src/core/outbound/outbound.ts";
import { openSource } from "../../src/features/warehouses/sources/kinds.ts";
import {
  BEGINNING,
  sourceTime,
  type Warehouse,
} from "../../src/features/warehouses/sources/source.ts";
import { readTableShape } from "../../src/features/warehouses/table-shape.ts";
import { FAKES } from "../../test/warehouses/fakes/kinds.ts";
import { inFolder, openEngines } from "./benchmark.ts";
import type { Dataset } from "./engines/engine.ts";
import { memoryOf } from "./processes/process-table.ts";
import { ADMIN_TOKEN, type ServerProcess, startServer } from "./processes/server.ts";

/*
 * A sync from a table of PostgreSQL into PostgreSQL, of people who are new to the server, compared
 * with the time that it takes to only read the rows. Both databases and the server share the
 * machine. Warehouses that are read by statements are the fakes of the tests, in this process:
 * their figures measure reading and parsing, not the services.
 */

export interface SyncOptions {
  readonly rows: number;
  readonly from: string;
  readonly databaseUrl: string | undefined;
}

const TABLE = "users";

/** One row for each user, a second apart: standard and custom attributes of about 130 bytes. */
const rowsOf = (count: number): string =>
  `create table ${TABLE} as select timestamptz '2025-01-01' + i * interval '1 second' as updated_at,
     'user-' || i as external_id, json_build_object('first_name', 'N' || i,
       'plan', case when i % 3 = 0 then 'gold' else 'free' end, 'score', i % 100, 'country', 'DE',
       'signed_up', '2025-01-01T00:00:00Z', 'tags', json_build_array('a', 'b'))::text as payload
   from generate_series(1, ${count}) i`;

/** The same rows in the SQL of a fake. */
const rowsOfFake = (table: string, count: number): string =>
  `create table ${table} as select timestamptz '2025-01-01 00:00:00Z' + to_seconds(i) as UPDATED_AT,
     'user-' || i as EXTERNAL_ID, json_object('first_name', 'N' || i,
       'plan', case when i % 3 = 0 then 'gold' else 'free' end, 'score', i % 100, 'country', 'DE',
       'signed_up', '2025-01-01T00:00:00Z', 'tags', json_array('a', 'b'))::varchar as PAYLOAD
   from range(1, ${count + 1}) t(i)`;

/** Rows of a page: what makes several megabytes, as the services send them. */
const PAGE_ROWS = 10_000;

/**
 * Prints rows per second, the ratio to reading alone, and the growth of the server's memory, for
 * each kind.
 */
export async function runSyncBenchmark({ rows, from, databaseUrl }: SyncOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    const wanted = { engine: "postgres", databaseUrl, profile: undefined } as const;
    const [engine] = await openEngines(wanted, folder, cleanUp);
    if (!engine) return;
    process.stdout.write(`${engine.version}: ${rows.toLocaleString("en-US")} rows of attributes\n`);
    const fakes = FAKES.filter(({ type }) => from === "all" || from === type);
    const places: Warehouse[] = [];
    if (from === "postgres" || from === "all") {
      const warehouse = await engine.create();
      cleanUp.add(() => warehouse.remove());
      const statements = [rowsOf(rows), `create index on ${TABLE} (updated_at)`, "vacuum analyze"];
      await warehouse.run(statements);
      places.push(placeOf(warehouse));
    }
    for (const { schema, start } of fakes) {
      const fake = await start();
      cleanUp.add(async () => fake.close());
      fake.pageRows = PAGE_ROWS;
      const table = `${schema}${TABLE}`;
      await fake.engine.run(rowsOfFake(table, rows));
      places.push({ ...fake.settings, type: `${fake.settings.type}`, table });
    }
    for (const place of places) {
      const target = await engine.create();
      cleanUp.add(() => target.remove());
      await measure(place, target, rows, folder);
    }
  });
}

async function measure(
  place: Warehouse,
  target: Dataset,
  rows: number,
  folder: string,
): Promise<void> {
  const readingSeconds = await readAlone(place);
  const server = await startServer(target.environment, { folder, workers: 1 });
  try {
    const before = memoryOf(server.processId).residentBytes;
    const seconds = await sync(server, place, rows);
    const { peakBytes } = memoryOf(server.processId);
    process.stdout.write(
      `${place.type}\n` +
        `  synced         ${Math.round(rows / seconds).toLocaleString("en-US")} rows/s\n` +
        `  read alone     ${Math.round(rows / readingSeconds).toLocaleString("en-US")} rows/s\n` +
        `  ratio          ${(readingSeconds / seconds).toFixed(3)}\n` +
        `  server memory  ${megabytes(before)} MB at the start, ${megabytes(peakBytes)} MB at most\n`,
    );
  } finally {
    await server.stop();
  }
}

const placeOf = ({ environment }: Dataset): Warehouse => ({
  type: "postgres",
  url: environment.DATABASE_URL,
  table: TABLE,
});

async function readAlone(place: Warehouse): Promise<number> {
  const startedAt = performance.now();
  const source = await openSource(place, {
    signal: new AbortController().signal,
    outbound: UNGUARDED,
  });
  const shape = readTableShape(source.columns ?? [], "attributes");
  const range = { from: BEGINNING, until: sourceTime(new Date()) };
  const selection = await source.select(shape, range);
  let count = 0;
  for await (const rows of selection.rows()) count += rows.length;
  await source.close();
  if (count !== selection.count) throw new Error(`${count} rows were read of ${selection.count}.`);
  return (performance.now() - startedAt) / 1_000;
}

interface Run {
  readonly job_status: string;
  readonly rows_synced: number;
}

/** @returns how long it took, in seconds. */
async function sync({ url }: ServerProcess, place: Warehouse, rows: number): Promise<number> {
  const ask = async <Body>(path: string, body?: unknown): Promise<Body> => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Body;
  };
  const id = randomUUID();
  const integration = { id, name: "users", type: "attributes", warehouse: place };
  await ask("/apply", {
    company: { name: "Benchmark" },
    workspaces: [{ name: "bench", integrations: [integration] }],
  });
  const path = `/workspaces/bench/integrations/${id}`;
  const startedAt = performance.now();
  const { run_id } = await ask<{ run_id: string }>(`${path}/sync`, {});
  for (;;) {
    const { run } = await ask<{ run: Run }>(`${path}/runs/${run_id}`);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (run.job_status === "success" && run.rows_synced === rows) return seconds;
    if (run.job_status !== "running") throw new Error(`The sync ended: ${JSON.stringify(run)}`);
    await sleep(100);
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1_048_576);
