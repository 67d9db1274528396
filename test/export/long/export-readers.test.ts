/* A stream of all rows that is larger than the buffers of a connection: one snapshot for slow readers, and never a part for the whole. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import postgres from "postgres";
import { id, TIME } from "../../core/people/identity/identity-calls.ts";
import { ENGINE, startOwnServer, type TestWorkspace } from "../../harness.ts";
import { until } from "../../until.ts";

const server = await startOwnServer();

const pathOf = ({ name }: TestWorkspace, kind: string) =>
  `/admin/v1/workspaces/${name}/export/${kind}`;

async function rowsOf(workspace: TestWorkspace, kind: string): Promise<any[]> {
  const { status, body } = await server.admin("GET", pathOf(workspace, kind));
  assert.equal(status, 200, JSON.stringify(body));
  const lines = body
    .trimEnd()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  const rows = lines.slice(0, -1);
  assert.deepEqual(lines.at(-1), { export: { complete: true, rows: rows.length } });
  return rows;
}

const open = (workspace: TestWorkspace, kind: string) =>
  fetch(server.url + pathOf(workspace, kind), {
    headers: { authorization: `Bearer ${server.adminToken}` },
  });

/** More events than the buffers of a connection hold. */
const LARGE_EVENTS = 1_500;

async function largeWorkspace(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  const text = "x".repeat(20_000);
  for (let sent = 0; sent < LARGE_EVENTS; sent += 50) {
    const events = Array.from({ length: 50 }, (_, index) => ({
      ...id(`user ${index}`),
      name: "large",
      time: TIME,
      properties: { text, place: sent + index },
    }));
    const { body } = await workspace.track({ events });
    assert.equal(body.errors, undefined);
  }
  return workspace;
}

describe("an export stream", () => {
  test("an export stream shows the workspace as it was at the beginning, even to a slow reader", async () => {
    const workspace = await largeWorkspace();
    const response = await open(workspace, "events");
    await workspace.track({ events: [{ ...id("user 1"), name: "late", time: TIME }] });
    await workspace.call("POST", "/users/delete", { external_ids: ["user 2"] });
    const text = await response.text();
    const lines = text.trimEnd().split("\n");
    assert.equal(lines.length, LARGE_EVENTS + 1);
    assert.ok(!text.includes('"late"'));
    const places = new Set(lines.slice(0, -1).map((line) => JSON.parse(line).properties.place));
    assert.equal(places.size, LARGE_EVENTS);
  });

  test("two slow readers of a workspace never hold all export slots, and its next export is accepted once one has left", async () => {
    const workspace = await largeWorkspace();
    const running = [await open(workspace, "events"), await open(workspace, "events")];
    const third = await open(workspace, "events");
    assert.equal(third.status, 503);
    assert.ok(third.headers.get("retry-after"));
    assert.match(((await third.json()) as any).message, /already runs 2 exports of the workspace/);
    assert.deepEqual(await rowsOf(await server.workspace(), "users"), []);
    for (const response of running) await response.body?.cancel();
    await until(async () => {
      const { status } = await server.admin("GET", pathOf(workspace, "users"));
      return status === 200 || assert.equal(status, 503);
    });
  });

  const skip = ENGINE !== "postgres";
  test("an export is cut off if the database fails, so that a part is not taken for the whole", {
    skip,
  }, async () => {
    const workspace = await largeWorkspace();
    const response = await open(workspace, "events");
    const sql = postgres(server.config.databaseUrl as string, { max: 1 });
    const killed = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'rapport'
        and state = 'idle in transaction'`;
    await sql.end();
    // A background job may have been between two statements too.
    assert.ok(killed.length >= 1);
    await assert.rejects(response.text(), /terminated/);
    assert.equal((await rowsOf(workspace, "users")).length, 50);
  });
});
