/* The test of an integration before it is saved. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { until } from "../../until.ts";

const server = await startServer();
const folder = await temporaryFolder();

const pathOf = ({ name }: TestWorkspace, id: string = randomUUID()) =>
  `/admin/v1/workspaces/${name}/integrations/${id}`;

async function fileOf(...rows: string[]): Promise<string> {
  const path = join(folder, `${randomUUID()}.csv`);
  await writeFile(path, ["UPDATED_AT,EXTERNAL_ID,PAYLOAD", ...rows].join("\n"));
  return path;
}

describe("the test of an integration that is not saved", () => {
  test("a new integration is tested before it is saved, with five rows and what each becomes", async () => {
    const workspace = await server.workspace();
    const users = ["ada", "bob", "cleo", "dan", "eve", "fay"];
    const url = await fileOf(
      ...users.map((user, index) => `2026-01-0${index + 1},${user},"{""n"":${index}}"`),
    );
    const path = pathOf(workspace);
    const draft = { name: "CRM", type: "attributes", warehouse: { type: "files", url } };
    const { status, body } = await server.admin("POST", `${path}/test-change`, draft);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.problem, body.rows_to_read], [null, 6]);
    assert.deepEqual(
      body.rows.map((row: any) => [row.identity.external_id, row.payload, row.code]),
      users.slice(0, 5).map((user, index) => [user, `{"n":${index}}`, null]),
    );
    assert.equal((await server.admin("GET", path)).status, 404);
    assert.deepEqual(await workspace.profiles({ external_ids: users }), []);
  });

  test("a tested row comes with the object that it becomes, cut where it is long, and none where the payload is no object", async () => {
    const workspace = await server.workspace();
    const csv = (payload: unknown) => JSON.stringify(payload).replaceAll('"', '""');
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a${index}`, index]));
    const url = await fileOf(
      `2026-01-01,ada,"${csv({ plan: "gold", city: null, address: { zip: ["x".repeat(300)] } })}"`,
      `2026-01-02,bob,"${csv(many)}"`,
      `2026-01-03,cleo,"${csv({ bio: "y".repeat(300) })}"`,
      "2026-01-04,dan,not json",
    );
    const warehouse = { type: "files", url };
    const test = async (type: string) =>
      (
        await server.admin("POST", `${pathOf(workspace)}/test-change`, {
          name: "A",
          type,
          warehouse,
        })
      ).body;
    const [ada, bob, cleo, dan] = (await test("attributes")).rows;
    const zip = `["${"x".repeat(198)}…`;
    assert.deepEqual(ada.item, { plan: "gold", city: null, address: { zip } });
    assert.equal(Object.keys(bob.item).length, 30);
    assert.equal(cleo.item.bio, `${"y".repeat(200)}…`);
    assert.deepEqual([dan.item, dan.code], [null, "PAYLOAD_NOT_JSON"]);
  });

  test("a wrong table is told beside why, and a draft that lacks something names the field", async () => {
    const workspace = await server.workspace();
    const test = (body: object) => server.admin("POST", `${pathOf(workspace)}/test-change`, body);
    const url = join(folder, "no-such.csv");
    const missing = await test({ name: "A", type: "events", warehouse: { type: "files", url } });
    assert.equal(missing.status, 200);
    assert.match(missing.body.problem, /no file|no-such/i);
    const cases: [draft: object, rule: RegExp][] = [
      [{ type: "events", warehouse: { type: "files", url } }, /'name' is required/],
      [{ name: "A", type: "events" }, /'warehouse' is required/],
      [{ name: "A", type: "catalogs", warehouse: { type: "files", url } }, /'type' must be one of/],
      [{ name: "A", type: "events", warehouse: { type: "oracle" } }, /'warehouse/],
      [{ name: "A", type: "events", warehouse: { type: "files", url }, more: 1 }, /'more'/],
    ];
    for (const [draft, rule] of cases) {
      const { status, body } = await test(draft);
      assert.equal(status, 400, JSON.stringify(draft));
      assert.match(body.message, rule);
    }
  });

  test("a change of what the rows bring is tested from the beginning, where a sync would begin again", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace);
    const url = await fileOf(`2026-01-01,ada,"{""name"":""opened""}"`);
    const stored = { name: "CRM", type: "attributes", warehouse: { type: "files", url } };
    assert.equal((await server.admin("PUT", path, stored)).status, 200);
    const { run_id } = (await server.admin("POST", `${path}/sync`)).body;
    await until(async () => {
      const { run } = (await server.admin("GET", `${path}/runs/${run_id}`)).body;
      return run.job_status !== "running";
    });
    const beginning = async (change: object) =>
      (await server.admin("POST", `${path}/test-change`, change)).body.from;
    assert.equal(await beginning({ name: "Shop" }), "2026-01-01T00:00:00.000000Z");
    assert.equal(await beginning({ type: "events" }), null);
  });

  test("a change is tested with the kept secret, and one of its destination needs the secret again", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace);
    const warehouse = {
      type: "s3",
      url: "s3://bucket/users.csv",
      access_key_id: "id",
      secret_access_key: "hush",
      endpoint: "http://127.0.0.1:1",
    };
    const stored = { name: "Drops", type: "attributes", warehouse };
    assert.equal((await server.admin("PUT", path, stored)).status, 200);
    const test = (change: object) =>
      server.admin("POST", `${path}/test-change`, { warehouse: change });
    const kept = await test({ format: "csv" });
    assert.equal(kept.status, 200, JSON.stringify(kept.body));
    assert.notEqual(kept.body.problem, null);
    assert.ok(!JSON.stringify(kept.body).includes("hush"));
    const moved = await test({ endpoint: "http://127.0.0.1:2" });
    assert.equal(moved.status, 400);
    assert.match(moved.body.message, /access_key_id' must be sent again/);
    const read = await server.admin("GET", path);
    assert.equal(read.body.warehouse.place, "s3://bucket/users.csv");
  });
});
