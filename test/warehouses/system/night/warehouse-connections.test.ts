/*
 * Connections of the company: the company declares what a workspace may read, and a role in a
 * workspace reaches nothing else. The warehouse is a PostgreSQL on a loopback address, which
 * OUTBOUND_ALLOW lists.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { startProvider, visit } from "../../../dashboard-users/identity-provider.ts";
import { continueSession, type SignedIn } from "../../../dashboard-users/signed-in.ts";
import { freePort } from "../../../free-port.ts";
import { startOwnServer } from "../../../harness.ts";
import { declare, scimClient } from "../../../scim-client.ts";
import { startEmbeddedWarehouse } from "../../../warehouse.ts";
import { TRIED } from "../../fakes/kinds.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({
  port,
  oidc: provider.settings,
  outboundAllow: ["127.0.0.1"],
});
await declare(server);
const scim = scimClient(server);
const warehouse = await startEmbeddedWarehouse();
await warehouse.run(`create table crm (updated_at timestamptz, external_id text, payload text);
  insert into crm values ('2026-01-01T00:00:00Z', 'ada', '{"plan":"gold"}')`);

const root = mkdtempSync(join(tmpdir(), "rapport-drops-"));
after(() => rm(root, { recursive: true, force: true }));
const drops = join(root, "drops");
mkdirSync(join(drops, "in"), { recursive: true });
const CSV = 'UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01T12:00:00Z,ada,"{""plan"":""gold""}"\n';
for (const name of ["drops/in/crm.csv", "secret.csv"]) writeFileSync(join(root, name), CSV);
symlinkSync(join(root, "secret.csv"), join(drops, "in", "link.csv"));
symlinkSync(root, join(drops, "up"));

const put = (name: string, body: unknown) =>
  server.admin("PUT", `/admin/v1/connections/${name}`, body);

async function connection(workspace: string, settings: Record<string, unknown>): Promise<string> {
  const name = `c-${randomUUID()}`;
  const { status, body } = await put(name, { workspaces: [workspace], ...settings });
  assert.equal(status, 200, JSON.stringify(body));
  return name;
}

const PG = { type: "postgres", url: warehouse.url };

const FILES = { type: "files", root: drops };

type Send = SignedIn["call"];

const byToken: Send = (method, path, body) => server.admin(method, path, body);

async function declareIntegration(send: Send, workspace: string, source: unknown) {
  const id = randomUUID();
  const path = `/admin/v1/workspaces/${workspace}/integrations/${id}`;
  const name = `i-${id}`;
  const body = { name, type: "attributes", retry: { attempts: 1 }, warehouse: source };
  return { path, name, answer: await send("PUT", path, body) };
}

async function runOf(send: Send, path: string): Promise<Record<string, any>> {
  const { body } = await send("POST", `${path}/sync`);
  for (;;) {
    const { body: found } = await send("GET", `${path}/runs/${body.run_id}`);
    if (found.run.job_status !== "running") return found.run;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function syncOf(workspace: string, source: unknown, send = byToken) {
  const { path, answer } = await declareIntegration(send, workspace, source);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return runOf(send, path);
}

/** A dashboard user with every permission in a workspace and none of the company. */
async function memberOf(workspace: string): Promise<SignedIn> {
  const appGroup = [{ appGroupName: workspace, appGroupPermissions: ["admin"] }];
  const { userName } = await scim.user({ permissions: { companyPermissions: [], appGroup } });
  provider.signsIn({ email: userName as string, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  return continueSession(server, cookie);
}

async function refusalsOf(name: string): Promise<Record<string, any>[]> {
  const { body } = await server.admin("GET", "/admin/v1/audit?limit=100");
  return body.entries.filter((entry: any) => entry.action === "refused" && entry.name === name);
}

describe("a connection of the company", () => {
  test("an integration reads a table through a connection that lists its workspace", async () => {
    const workspace = await server.workspace();
    const name = await connection(workspace.name, PG);
    const run = await syncOf(workspace.name, { connection: name, table: "crm" });
    assert.deepEqual([run.job_status, run.rows_synced], ["success", 1]);
    const profile = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(profile.custom_attributes.plan, "gold");
  });

  test("a manifest declares connections and the integrations that use them in one apply", async () => {
    const name = `m-${randomUUID()}`;
    const manifest = {
      company: { name: "Test", connections: [{ name, ...PG, workspaces: [name] }] },
      workspaces: [
        {
          name,
          integrations: [
            {
              id: randomUUID(),
              name: "CRM",
              type: "attributes",
              warehouse: { connection: name, table: "crm" },
            },
          ],
        },
      ],
    };
    const first = await server.admin("POST", "/admin/v1/apply", manifest);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.deepEqual((await server.admin("POST", "/admin/v1/apply", manifest)).body.changes, []);
    const exported = await server.admin("GET", "/admin/v1/export");
    const text = JSON.stringify(exported.body);
    assert.doesNotMatch(text, new RegExp(warehouse.url.replaceAll(/[/.]/g, "\\$&")));
    const withoutConnection = { ...manifest, company: { name: "Test", connections: [] } };
    const refused = await server.admin("POST", "/admin/v1/apply", withoutConnection);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /There is no connection/);
    await server.admin("DELETE", `/admin/v1/connections/${name}`);
    const [integration] = manifest.workspaces[0]?.integrations ?? [];
    const run = await runOf(
      byToken,
      `/admin/v1/workspaces/${name}/integrations/${integration?.id}`,
    );
    assert.equal(run.job_status, "config_error");
    assert.match(run.message, /There is no connection/);
  });

  test("reading connections shows settings without secrets, and the database holds them sealed", async () => {
    const workspace = await server.workspace();
    const name = await connection(workspace.name, {
      type: "s3",
      access_key_id: "AKIDEXAMPLE",
      secret_access_key: "the-secret-of-the-storage",
      region: "eu-central-1",
    });
    const { body } = await server.admin("GET", `/admin/v1/connections/${name}`);
    assert.equal(body.region, "eu-central-1");
    const rows = await server.database.query("select * from connections where name = $1", [name]);
    assert.doesNotMatch(JSON.stringify([body, rows]), /AKIDEXAMPLE|the-secret-of/);
    const audit = await server.admin("GET", "/admin/v1/audit?limit=100");
    assert.doesNotMatch(JSON.stringify(audit.body), /AKIDEXAMPLE|the-secret-of/);
  });

  for (const [what, settings] of [
    ["a private host", { type: "postgres", url: "postgres://u@10.1.2.3/x" }],
    ["another loopback address", { type: "postgres", url: "postgres://u@127.0.0.2/x" }],
    [
      "the metadata service",
      {
        type: "s3",
        access_key_id: "a",
        secret_access_key: "b",
        endpoint: "http://169.254.169.254",
      },
    ],
  ] as const) {
    test(`a connection to ${what} is refused when it is declared`, async () => {
      const { status, body } = await put(`c-${randomUUID()}`, { workspaces: [], ...settings });
      assert.equal(status, 400);
      assert.match(body.message, /not a host that Rapport may call/);
    });
  }

  test("a place that its kind does not take is refused with the reason", async () => {
    const workspace = await server.workspace();
    const name = await connection(workspace.name, PG);
    for (const source of [
      { connection: name },
      { connection: name, url: "/etc/passwd", format: "csv" },
      { connection: name, table: "a; drop table b" },
    ]) {
      const { answer } = await declareIntegration(byToken, workspace.name, source);
      assert.equal(answer.status, 400, JSON.stringify(source));
    }
  });
});

describe("the reach of a role in a workspace", () => {
  test("a connection that lists the workspace works, and the run names no host of it", async () => {
    const workspace = await server.workspace();
    const member = await memberOf(workspace.name);
    const name = await connection(workspace.name, PG);
    const run = await syncOf(workspace.name, { connection: name, table: "crm" }, member.call);
    assert.equal(run.job_status, "success");
    const missing = await syncOf(
      workspace.name,
      { connection: name, table: "nothing" },
      member.call,
    );
    assert.match(missing.message, /relation "nothing" does not exist/);
    const closed = await connection(workspace.name, {
      type: "postgres",
      url: `postgres://reader:hunter2@127.0.0.1:${await freePort()}/x`,
    });
    const failed = await syncOf(workspace.name, { connection: closed, table: "crm" }, member.call);
    assert.equal(failed.job_status, "error");
    assert.match(failed.message, new RegExp(`'${closed}' failed \\(ECONNREFUSED\\)`));
    assert.doesNotMatch(failed.message, /127\.0|reader|hunter2/);
  });

  for (const [what, source] of [
    ["a PostgreSQL server inline", { ...PG, table: "crm" }],
    ["a file inline", { type: "files", url: "/etc/passwd", format: "csv" }],
    [
      "a storage inline",
      { type: "s3", url: "s3://b/x.csv", access_key_id: "a", secret_access_key: "b" },
    ],
    ["a connection that does not exist", { connection: "nothing", table: "crm" }],
  ] as const) {
    test(`${what} is refused, and the attempt is in the audit log`, async () => {
      const workspace = await server.workspace();
      const member = await memberOf(workspace.name);
      const { answer, name } = await declareIntegration(member.call, workspace.name, source);
      assert.ok([400, 403].includes(answer.status), JSON.stringify(answer.body));
      const [refusal] = await refusalsOf(name);
      assert.equal(refusal?.kind, "integration");
      assert.equal(refusal?.workspace, workspace.name);
      assert.equal(refusal?.actor, "dashboard_user");
    });
  }

  test("a connection of another workspace is refused like one that does not exist", async () => {
    const [own, other] = [await server.workspace(), await server.workspace()];
    const member = await memberOf(own.name);
    const name = await connection(other.name, PG);
    const source = { connection: name, table: "crm" };
    const { answer } = await declareIntegration(member.call, own.name, source);
    const { answer: unknown } = await declareIntegration(member.call, own.name, {
      ...source,
      connection: "nothing",
    });
    assert.equal(answer.status, unknown.status);
    assert.equal(answer.body.message.replace(name, "nothing"), unknown.body.message);
  });

  test("a workspace that a connection no longer lists reads nothing more through it", async () => {
    const workspace = await server.workspace();
    const name = await connection(workspace.name, PG);
    const source = { connection: name, table: "crm" };
    const { path } = await declareIntegration(byToken, workspace.name, source);
    await put(name, { ...PG, workspaces: [] });
    const run = await runOf(byToken, path);
    assert.equal(run.job_status, "config_error");
  });

  test("an integration that the administrator declared inline keeps its source when a role changes it", async () => {
    const workspace = await server.workspace();
    const member = await memberOf(workspace.name);
    const { path } = await declareIntegration(byToken, workspace.name, { ...PG, table: "crm" });
    const changed = await member.call("PUT", path, { name: "Renamed", type: "attributes" });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.equal((await runOf(member.call, path)).rows_synced, 1);
  });
});

describe("connections of warehouses that are read over HTTP", () => {
  for (const { type, schema, start } of TRIED) {
    test(`a role in a workspace reads through a connection of ${type}, and nobody sees its secrets`, async () => {
      const fake = await start();
      await fake.engine.run(`create table ${schema}users as select timestamptz '2026-01-01 00:00:00Z'
        as UPDATED_AT, 'ada' as EXTERNAL_ID, '{"plan":"gold"}' as PAYLOAD`);
      const workspace = await server.workspace();
      const member = await memberOf(workspace.name);
      const name = await connection(workspace.name, fake.settings);
      const source = { connection: name, table: `${schema}users` };
      const run = await syncOf(workspace.name, source, member.call);
      assert.deepEqual([run.job_status, run.rows_synced], ["success", 1], run.message);
      const moved = { ...source, endpoint: fake.url };
      const refused = await declareIntegration(member.call, workspace.name, moved);
      assert.equal(refused.answer.status, 400, "a role may not name another endpoint");

      fake.faults.push({ on: /./, times: 30, reply: { status: 401, body: "no" } });
      const failed = await syncOf(workspace.name, source, member.call);
      assert.equal(
        failed.message,
        `The connection '${name}' cannot be used. The server's log says why.`,
      );

      const shown = JSON.stringify([
        (await server.admin("GET", `/admin/v1/connections/${name}`)).body,
        (await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/manifest`)).body,
        (await server.admin("GET", "/admin/v1/audit")).body,
        run,
        failed,
      ]);
      for (const secret of ["private_key", "credentials", "token"]) {
        const value = fake.settings[secret];
        if (value) assert.ok(!shown.includes(JSON.stringify(value).slice(1, -1)), secret);
      }
      fake.close();
    });
  }
});

describe("files below the root of a connection", () => {
  test("a file and a folder below the root are read, by relative or absolute path", async () => {
    const workspace = await server.workspace();
    const name = await connection(workspace.name, FILES);
    for (const url of ["in/crm.csv", join(drops, "in/crm.csv"), "in", "./in/"]) {
      const run = await syncOf(workspace.name, { connection: name, url, format: "csv" });
      assert.deepEqual([run.job_status, run.rows_synced], ["success", 1], `${url} ${run.message}`);
    }
  });

  test("a file that cannot be read is named without the folder of the connection", async () => {
    const { name: workspace } = await server.workspace();
    const name = await connection(workspace, FILES);
    for (const file of ["broken.parquet", "broken.csv.gz", "broken [1].parquet"]) {
      writeFileSync(join(drops, file), "no such format");
      const run = await syncOf(workspace, { connection: name, url: file });
      assert.notEqual(run.job_status, "success");
      assert.ok(!run.message.includes(root), run.message);
    }
  });

  test("a path outside the root is refused, and no answer shows whether it exists", async () => {
    const workspace = await server.workspace();
    const member = await memberOf(workspace.name);
    const name = await connection(workspace.name, FILES);
    const messages = new Set<string>();
    for (const url of ["../secret.csv", "../nothing.csv", "/etc/passwd", "in/../../secret.csv"]) {
      const source = { connection: name, url, format: "csv" };
      const declared = await declareIntegration(member.call, workspace.name, source);
      assert.equal(declared.answer.status, 400, url);
      assert.equal((await refusalsOf(declared.name)).length, 1);
      messages.add(declared.answer.body.message);
    }
    assert.equal(messages.size, 1);
  });

  test("a link that leads out of the root is like a file that does not exist", async () => {
    const workspace = await server.workspace();
    const name = await connection(workspace.name, FILES);
    for (const url of ["in/link.csv", "up/secret.csv", "up"]) {
      const source = { connection: name, url, format: "csv" };
      const { path, name: integration } = await declareIntegration(byToken, workspace.name, source);
      const run = await runOf(byToken, path);
      assert.equal(run.job_status, "config_error", url);
      assert.equal(run.message, `There is no file or folder ${url} in the connection's folder.`);
      assert.equal((await refusalsOf(integration)).length, 1);
    }
  });
});
