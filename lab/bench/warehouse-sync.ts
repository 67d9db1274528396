import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { UNGUARDED } from "../../src/base/outbound/outbound.ts";
import { openSource } from "../../src/intake/warehouses/sources/kinds.ts";
import { BEGINNING, sourceTime } from "../../src/intake/warehouses/sources/source.ts";
import { readTableShape } from "../../src/intake/warehouses/table-shape.ts";
import { inFolder, openEngines } from "./benchmark.ts";
import type { Dataset } from "./engines/engine.ts";
import { memoryOf } from "./processes/process-table.ts";
import { ADMIN_TOKEN, type ServerProcess, startServer } from "./processes/server.ts";

/*
 * A sync from a table of PostgreSQL into PostgreSQL, people who are new to the server, beside the time
 * that it takes to read the rows alone. Both databases and the server share the machine.
 */

export interface SyncOptions {
  readonly rows: number;
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

/** Prints rows per second, the ratio to reading alone, and what the server's memory grew by. */
export async function runSyncBenchmark({ rows, databaseUrl }: SyncOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    const wanted = { engine: "postgres", databaseUrl, profile: undefined } as const;
    const [engine] = await openEngines(wanted, folder, cleanUp);
    if (!engine) return;
    const [warehouse, target] = [await engine.create(), await engine.create()];
    for (const dataset of [warehouse, target]) cleanUp.add(() => dataset.remove());
    await warehouse.run([rowsOf(rows), `create index on ${TABLE} (updated_at)`, "vacuum analyze"]);
    const readingSeconds = await readAlone(placeOf(warehouse));

    const server = await startServer(target.environment, { folder, workers: 1 });
    cleanUp.add(() => server.stop());
    const before = memoryOf(server.processId).residentBytes;
    const seconds = await sync(server, placeOf(warehouse), rows);
    const { peakBytes } = memoryOf(server.processId);
    process.stdout.write(
      `${engine.version}: ${rows.toLocaleString("en-US")} rows of attributes\n` +
        `  synced         ${Math.round(rows / seconds).toLocaleString("en-US")} rows/s\n` +
        `  read alone     ${Math.round(rows / readingSeconds).toLocaleString("en-US")} rows/s\n` +
        `  ratio          ${(readingSeconds / seconds).toFixed(3)}\n` +
        `  server memory  ${megabytes(before)} MB at the start, ${megabytes(peakBytes)} MB at most\n`,
    );
  });
}

const placeOf = ({ environment }: Dataset) => ({
  type: "postgres",
  url: environment.DATABASE_URL,
  table: TABLE,
});

async function readAlone(place: ReturnType<typeof placeOf>): Promise<number> {
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
async function sync(
  { url }: ServerProcess,
  place: ReturnType<typeof placeOf>,
  rows: number,
): Promise<number> {
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
