/* `rapport export` writes Parquet. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { byAlias, id, TIME } from "../../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { runCommand } from "../../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();

const run = ({ name }: TestWorkspace, ...args: string[]) =>
  runCommand(["export", ...args, "--workspace", name, "--url", server.url], {
    ADMIN_TOKEN: server.adminToken,
  });

async function someWorkspace(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  await workspace.track({
    attributes: [
      { ...id("ada"), first_name: 'A "quoted", name', tags: ["one", "two"], plan: "pro" },
      { ...byAlias("bob"), _update_existing_only: false, plan: "free" },
    ],
    events: Array.from({ length: 30 }, (_, index) => ({
      ...id("ada"),
      name: "e",
      time: TIME,
      properties: { place: index, size: index % 2 ? "L" : null },
    })),
  });
  return workspace;
}

const linesIn = (text: string): any[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** The files that a command left in the folder, apart from these names. */
const leftBehind = async (...names: string[]) =>
  (await readdir(folder)).filter((name) => !names.includes(name) && name.includes("unfinished"));

describe("rapport export", () => {
  test("rapport export writes Parquet that DuckDB reads, with the same columns and types for any rows", async () => {
    const workspace = await someWorkspace();
    const file = join(folder, "events.parquet");
    const { code, stderr } = await run(workspace, "events", file);
    assert.equal(code, 0, stderr);
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const reader = await connection.runAndReadAll(
      `select count(*)::int as rows, count(distinct properties ->> 'place')::int as places from '${file}'`,
    );
    assert.deepEqual(reader.getRowObjects(), [{ rows: 30, places: 30 }]);
    const typesIn = async (path: string) => {
      const described = await connection.runAndReadAll(
        `select column_name || ' ' || column_type as type from (describe select * from '${path}')`,
      );
      return described.getRowObjects().map(({ type }) => type);
    };
    const empty = join(folder, "none.parquet");
    assert.equal((await run(workspace, "events", empty, "--since", "2030-01-01")).code, 0);
    assert.deepEqual(await typesIn(empty), await typesIn(file));
    for (const kind of ["users", "purchases", "subscriptions"] as const) {
      const ndjson = await run(workspace, kind, "-");
      const path = join(folder, `${kind}.parquet`);
      assert.equal((await run(workspace, kind, path)).code, 0);
      const columns = (await typesIn(path)).map((type) => String(type).split(" ", 1)[0]);
      const fields = ndjson.stdout.trim() ? linesIn(ndjson.stdout).flatMap(Object.keys) : [];
      assert.deepEqual(
        fields.filter((field) => !columns.includes(field)),
        [],
        `fields of ${kind} that the file lacks`,
      );
    }
    const piped = await run(workspace, "events", "--format", "parquet");
    assert.match(piped.stderr, /needs a file/);
    assert.deepEqual(await leftBehind(), []);
  });
});
