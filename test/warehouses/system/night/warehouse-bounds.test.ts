/* How much a sync reads of values and folders that are larger than any valid ones. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { UNGUARDED } from "../../../../src/core/outbound/outbound.ts";
import { openSource } from "../../../../src/features/warehouses/sources/kinds.ts";
import {
  BEGINNING,
  LONGEST_READ_IDENTIFIER,
  sourceTime,
  type Warehouse,
} from "../../../../src/features/warehouses/sources/source.ts";
import { readTableShape } from "../../../../src/features/warehouses/table-shape.ts";
import { startServer } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { startIntegration } from "../../../sync-runs.ts";
import { startWarehouse } from "../../../warehouse.ts";

const server = await startServer();
const folder = await temporaryFolder();

/** More than is read of an identifier. */
const LONG = 200_000;

const HEADER = "UPDATED_AT,EXTERNAL_ID,PAYLOAD";

/** The lengths of the identifiers that leave a source until now, in ascending order. */
async function lengthsRead(warehouse: Warehouse): Promise<number[]> {
  const { signal } = new AbortController();
  const source = await openSource(warehouse, { signal, outbound: UNGUARDED });
  const shape = readTableShape(source.columns ?? [], "attributes");
  const range = { from: BEGINNING, until: sourceTime(new Date()) };
  const lengths: number[] = [];
  for await (const rows of (await source.select(shape, range)).rows()) {
    lengths.push(...rows.map(({ identifiers }) => identifiers.external_id?.length ?? 0));
  }
  await source.close();
  return lengths.sort((one, other) => one - other);
}

/** A server of PostgreSQL's protocol that takes any login, and answers the first statement without end. */
async function startEndlessWarehouse() {
  let sentMb = 0;
  const head = (type: string, length: number) => {
    const bytes = Buffer.alloc(5);
    bytes.write(type);
    bytes.writeInt32BE(length, 1);
    return bytes;
  };
  const filler = Buffer.alloc(1_048_576, "x");
  const endless = createServer((socket) => {
    const send = () => {
      while (!socket.destroyed) {
        sentMb += 1;
        if (!socket.write(filler)) return void socket.once("drain", send);
      }
    };
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(Buffer.concat([head("R", 8), Buffer.alloc(4), head("Z", 5), Buffer.from("I")]));
      socket.once("data", () => {
        socket.write(head("E", 0x7fffffff));
        send();
      });
    });
  });
  after(() => endless.close());
  await once(endless.listen(0, "127.0.0.1"), "listening");
  const { port } = endless.address() as AddressInfo;
  return { url: `postgres://u:p@127.0.0.1:${port}/d`, sentMb: () => sentMb };
}

describe("the bounds of a sync", () => {
  test("a PostgreSQL that sends more than a page of rows may take is disconnected, and the run says so", async () => {
    const { url, sentMb } = await startEndlessWarehouse();
    const integration = await startIntegration(server, {
      warehouse: { type: "postgres", url, table: "crm" },
    });
    const { job_status, message } = await integration.sync();
    assert.equal(job_status, "error");
    assert.equal(message, "The source failed: The server sent more than 384 MB at once.");
    assert.ok(sentMb() < 600, `${sentMb()} MB were read.`);
  });

  test("an identifier of a table that is far too long fails its row, is logged cut, and the other rows are synced", async () => {
    const warehouse = await startWarehouse();
    await warehouse.run(`create table crm (updated_at timestamptz, external_id text, payload text);
      insert into crm values ('2026-01-01T00:00:00Z', repeat('x', ${LONG}), '{"n":1}'),
        ('2026-01-01T00:00:00Z', 'ada', '{"n":1}'),
        ('2999-01-01T00:00:00Z', repeat('y', ${LONG}), '{"n":1}')`);
    const { run, rows } = await (
      await startIntegration(server, {
        warehouse: { type: "postgres", url: warehouse.url, table: "crm" },
      })
    ).syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_failed_with_errors],
      ["partial", 1, 1],
    );
    assert.deepEqual(
      rows.map(({ outcome, field }) => [outcome, field]),
      [
        ["failed", "external_id"],
        ["waiting", "UPDATED_AT"],
      ],
    );
    const source = { type: "postgres", url: warehouse.url, table: "crm" };
    assert.deepEqual(await lengthsRead(source), [3, LONGEST_READ_IDENTIFIER]);
  });

  test("an identifier of a file that is far too long fails its row, and the other rows are synced", async () => {
    const path = join(folder, "long.csv");
    const lines = [`2026-01-01,${"x".repeat(LONG)},"{""n"":1}"`, `2026-01-01,ada,"{""n"":1}"`];
    await writeFile(path, [HEADER, ...lines].join("\n"));
    const integration = await startIntegration(server, { warehouse: { type: "files", url: path } });
    const { run, rows } = await integration.syncWithLog();
    assert.deepEqual([run.job_status, run.rows_synced], ["partial", 1]);
    assert.deepEqual(
      rows.map(({ field }) => field),
      ["external_id"],
    );
    assert.deepEqual(await lengthsRead({ type: "files", url: path }), [3, LONGEST_READ_IDENTIFIER]);
  });

  test("CSV files with the same header line and with others are read together", async () => {
    const drops = join(folder, "drops");
    await mkdir(drops);
    const headers = [HEADER, "EXTERNAL_ID,UPDATED_AT,PAYLOAD", HEADER, `${HEADER},EXTRA`];
    for (const [index, header] of headers.entries()) {
      const cells: Record<string, string> = {
        UPDATED_AT: "2026-01-01",
        EXTERNAL_ID: `u${index}`,
        PAYLOAD: '"{""n"":1}"',
        EXTRA: "x",
      };
      const line = header.split(",").map((name) => cells[name]);
      await writeFile(join(drops, `${index}.csv`), `${header}\n${line.join(",")}\n`);
    }
    const integration = await startIntegration(server, {
      warehouse: { type: "files", url: drops, format: "csv" },
    });
    const run = await integration.sync();
    assert.deepEqual([run.job_status, run.rows_synced], ["success", 4]);
  });

  test("a folder of more than 1,000 CSV files is refused with that limit", async () => {
    const many = join(folder, "many");
    await mkdir(many);
    for (let index = 0; index <= 1_000; index++) {
      await writeFile(join(many, `${index}.csv`), `${HEADER}\n`);
    }
    const integration = await startIntegration(server, {
      warehouse: { type: "files", url: many, format: "csv" },
    });
    const run = await integration.sync();
    assert.equal(run.job_status, "config_error");
    assert.match(run.message ?? "", /more than 1000 CSV files/);
  });
});
