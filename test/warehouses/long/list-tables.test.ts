/* The tables and files that an integration may read, before it names one. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startOwnServer, type TestWorkspace } from "../../harness.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startStorage } from "../../s3-server.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startEmbeddedWarehouse } from "../../warehouse.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

const pathOf = ({ name }: TestWorkspace, id: string = randomUUID()) =>
  `/admin/v1/workspaces/${name}/integrations/${id}`;

const list = async (workspace: TestWorkspace, body: object, id?: string) =>
  server.admin("POST", `${pathOf(workspace, id)}/tables`, body);

async function connection(workspace: TestWorkspace, settings: object): Promise<string> {
  const name = `c-${randomUUID()}`;
  const body = { workspaces: [workspace.name], ...settings };
  const put = await server.admin("PUT", `/admin/v1/connections/${name}`, body);
  assert.equal(put.status, 200, JSON.stringify(put.body));
  return name;
}

describe("the list of a source's tables", () => {
  test("the tables and views that a login of PostgreSQL may read are listed by name, in quotes where they need them", async () => {
    const workspace = await server.workspace();
    const warehouse = await startEmbeddedWarehouse();
    await warehouse.run(`create schema shop; create schema "Old shop";
      create table "Old shop".orders (id int); create table shop."Crm users" (id int);
      create table shop."order" (id int); create table shop.plain (id int);
      create view shop.recent as select 1 as id;
      create materialized view shop.kept as select 1 as id;
      create table shop.parted (id int) partition by range (id);
      create table shop.part_1 partition of shop.parted for values from (0) to (1)`);
    const { url } = warehouse;
    const { status, body } = await list(workspace, { warehouse: { type: "postgres", url } });
    assert.equal(status, 200, JSON.stringify(body));
    // The engine may have tables of its own.
    const ofShops = body.tables.filter((name: string) => /shop/.test(name));
    assert.deepEqual(ofShops, [
      '"Old shop".orders',
      'shop."Crm users"',
      "shop.kept",
      'shop."order"',
      "shop.parted",
      "shop.plain",
      "shop.recent",
    ]);
    assert.deepEqual([body.more, body.problem], [false, null]);
    const name = await connection(workspace, { type: "postgres", url });
    const through = await list(workspace, { warehouse: { connection: name, table: "sho" } });
    assert.deepEqual(through.body.tables, body.tables);
    const id = randomUUID();
    const saved = {
      name: "CRM",
      type: "attributes",
      warehouse: { connection: name, table: "shop.plain" },
    };
    assert.equal((await server.admin("PUT", pathOf(workspace, id), saved)).status, 200);
    assert.deepEqual((await list(workspace, {}, id)).body, body);
  });

  test("Redshift lists what its own view of tables shows, and a source with more than a thousand tables says so", async () => {
    const workspace = await server.workspace();
    const warehouse = await startEmbeddedWarehouse();
    await warehouse.run(`create table svv_tables as
      select 'crm' as table_schema, 'users_' || lpad(n::text, 4, '0') as table_name
      from generate_series(1, 1001) n`);
    const redshift = { type: "redshift", url: warehouse.url };
    const { body } = await list(workspace, { warehouse: redshift });
    assert.deepEqual(
      [body.tables.length, body.tables[0], body.tables.at(-1), body.more],
      [1_000, "crm.users_0001", "crm.users_1000", true],
    );
  });

  test("the files below the root of a connection are listed with their folders, and links are not followed", async () => {
    const workspace = await server.workspace();
    const root = await temporaryFolder();
    const outside = await temporaryFolder();
    await mkdir(join(root, "in", "deep"), { recursive: true });
    for (const name of ["a.csv", "in/b.parquet", "in/deep/c.ndjson.gz", "in/notes.txt"]) {
      await writeFile(join(root, name), "");
    }
    await writeFile(join(outside, "secret.csv"), "");
    await symlink(outside, join(root, "out"));
    const name = await connection(workspace, { type: "files", root });
    const { body } = await list(workspace, { warehouse: { connection: name, url: "/etc/passwd" } });
    assert.deepEqual(body, {
      tables: ["./", "a.csv", "in/", "in/b.parquet", "in/deep/", "in/deep/c.ndjson.gz"],
      more: false,
      problem: null,
      message: "success",
    });
  });

  test("the files of a bucket are listed below the root only, and without a root from the folder in the URL", async () => {
    const workspace = await server.workspace();
    const storage = await startStorage();
    for (const key of ["in/a.csv", "in/b.csv", "in/sub/c.parquet", "in/x.txt", "inner/no.csv"]) {
      storage.objects.set(key, new Uint8Array());
    }
    const login = {
      type: "s3",
      access_key_id: ACCESS_KEY_ID,
      secret_access_key: SECRET_ACCESS_KEY,
      region: REGION,
      endpoint: storage.endpoint,
    };
    const below = ["s3://crm/in/", "s3://crm/in/a.csv", "s3://crm/in/b.csv"];
    const all = [...below, "s3://crm/in/sub/", "s3://crm/in/sub/c.parquet"];
    const name = await connection(workspace, { ...login, root: "s3://crm/in" });
    const tablesOf = async (warehouse: object) => {
      const { status, body } = await list(workspace, { warehouse });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.problem, null);
      return body.tables;
    };
    assert.deepEqual(await tablesOf({ connection: name }), all);
    assert.deepEqual(await tablesOf({ connection: name, url: "s3://crm/inner/" }), all);
    assert.deepEqual(await tablesOf({ connection: name, url: "s3://crm/in/sub/c" }), all.slice(3));
    assert.deepEqual(await tablesOf({ ...login, url: "s3://crm/in/a" }), all);
    const asked = storage.requests.length;
    for (const url of [undefined, "", "s3://", "s3://cr", "s3://evil.invalid#/x/"]) {
      assert.deepEqual(await tablesOf({ ...login, url }), []);
    }
    assert.equal(storage.requests.length, asked);
    const { body } = await list(workspace, { warehouse: { ...login, url: "s3://other/" } });
    assert.match(body.problem, /NoSuchBucket/);
    assert.doesNotMatch(JSON.stringify(body), new RegExp(SECRET_ACCESS_KEY.slice(0, 12)));
  });

  test("a wrong source is refused with its field, and a host that does not answer is the reason why nothing is listed", async () => {
    const workspace = await server.workspace();
    const other = await server.workspace();
    const theirs = await connection(other, { type: "files", root: "/srv" });
    const cases: [warehouse: unknown, status: number, rule: RegExp][] = [
      [{ connection: theirs }, 400, /There is no connection/],
      [{ connection: "none" }, 400, /There is no connection 'none'/],
      [{ type: "oracle" }, 400, /'warehouse/],
      [{ type: "snowflake", account: "acme" }, 400, /'warehouse/],
      [{ type: "postgres", url: "http://x" }, 400, /'warehouse.url' must begin with postgres/],
      [{ type: "databricks", host: "a.b", path: "/sql/1.0/warehouses/a" }, 400, /'token'/],
      [{ type: "files", more: 1 }, 400, /more/],
      ["crm", 400, /'warehouse'/],
    ];
    for (const [warehouse, status, rule] of cases) {
      const answer = await list(workspace, { warehouse });
      assert.equal(answer.status, status, JSON.stringify([warehouse, answer.body]));
      assert.match(answer.body.message, rule, JSON.stringify(warehouse));
    }
    assert.equal((await list(workspace, {})).status, 404);
    assert.equal((await list(workspace, {}, "none")).status, 400);
    const url = "postgres://u:hush@127.0.0.1:1/x";
    const inline = await list(workspace, { warehouse: { type: "postgres", url } });
    assert.deepEqual([inline.status, inline.body.tables], [200, []]);
    assert.match(inline.body.problem, /ECONNREFUSED/);
    const name = await connection(workspace, { type: "postgres", url });
    const hidden = await list(workspace, { warehouse: { connection: name } });
    assert.match(hidden.body.problem, /the connection 'c-.*' failed/);
    assert.doesNotMatch(JSON.stringify([inline.body, hidden.body]), /hush/);
    assert.doesNotMatch(JSON.stringify(hidden.body), /127\.0\.0\.1/);
  });
});
