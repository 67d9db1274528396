/*
 * Two workspaces, and every endpoint: a request with one's key that names the other's people and
 * things by their ids changes no row of the other and shows nothing of it. The cases follow from
 * sample-requests.ts, which has one for every endpoint (access.test.ts).
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bucketOfValue } from "../../src/database/buckets.ts";
import type { Database } from "../../src/database/database.ts";
import { pathsOf } from "../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/app.ts";
import { openDatabase } from "../../src/server/open-database.ts";
import {
  type Answer,
  startOwnServer,
  startServer,
  type TestServer,
  type TestWorkspace,
} from "../harness.ts";
import {
  pathOf,
  type Sample,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../sample-requests.ts";
import { temporaryFolder } from "../stored-rows.ts";

const MARK = "only-its-own-workspace-may-see-this";

const first = await startOwnServer({ dataDir: await temporaryFolder() });
const victim = await first.workspace(sampleWorkspace());
const intruder = await first.workspace(sampleWorkspace());

interface Sent {
  readonly name: string;
  readonly sample: Sample;
  readonly answer: Answer<any>;
}

/** Sends the sample of every endpoint, with the workspace's key or, if necessary, another's. */
async function sendSamples(server: TestServer, workspace: TestWorkspace): Promise<Sent[]> {
  const samples = await sampleRequests(server, workspace);
  const { key } = workspace;
  const keys = {
    key,
    scim: SCIM_TOKEN,
    administrator: server.adminToken,
    session: null,
    anybody: key,
  };
  const sent: Sent[] = [];
  for (const { contract } of ENDPOINTS) {
    const name = `${contract.method} ${pathsOf(contract)[0]}`;
    for (const declaredPath of pathsOf(contract)) {
      const sample = (await samples[name]?.()) ?? {};
      const { raw, headers = {}, body } = sample;
      const options = { key: keys[contract.access.by], headers, ...(raw !== undefined && { raw }) };
      const path = pathOf(declaredPath, workspace.name, sample);
      const answer = await server.send(contract.method, path, body, options);
      sent.push({ name, sample, answer });
    }
  }
  return sent;
}

const IDENTIFIERS: Readonly<Record<string, string>> = {
  external_id: "external_id",
  external_ids: "external_id",
  email: "email",
  emails: "email",
  phone: "phone",
  phones: "phone",
};

/** An attributes object, with the mark in it, for everyone whom the samples name. */
function peopleOf(value: unknown, key = ""): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  const kind = IDENTIFIERS[key];
  if (typeof value === "string" && kind) found.push({ [kind]: value, mark: MARK });
  if (value === null || typeof value !== "object") return found;
  if ("alias_name" in value && "alias_label" in value) {
    const { alias_name, alias_label } = value;
    found.push({
      user_alias: { alias_name, alias_label },
      mark: MARK,
      _update_existing_only: false,
    });
  }
  for (const [name, member] of Object.entries(value)) {
    found.push(...peopleOf(member, Array.isArray(value) ? key : name));
  }
  return found;
}

async function rowsOf(database: Database, workspaceName: string) {
  const [workspace] = await database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [workspaceName],
  );
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'workspace_id' order by table_name`,
  );
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const found = await database.query<{ row: unknown }>(
      `select to_jsonb(each) as row from ${name} each where workspace_id = $1`,
      [workspace?.id],
    );
    rows[name] = found.map((each) => JSON.stringify(each.row)).sort();
  }
  return rows;
}

async function stopped<Result>(server: TestServer, read: (database: Database) => Promise<Result>) {
  await server.stop();
  const database = await openDatabase(server.config);
  return read(database).finally(() => database.close());
}

describe("an API key of one workspace", async () => {
  const samples = (await sendSamples(first, victim)).map(({ sample }) => sample);
  const people = peopleOf(samples);
  for (let index = 0; index < people.length; index += 50) {
    await victim.track({ attributes: people.slice(index, index + 50) });
  }
  const [marked] = await victim.profiles({ external_ids: ["ada"] });
  const before = await stopped(first, (database) => rowsOf(database, victim.name));

  const second = await startOwnServer(first.config);
  const sent = await sendSamples(second, intruder);
  const platformId = marked?.platform_id ?? marked?.braze_id;
  const attempts: [path: string, body: unknown][] = [
    ["/users/export/ids", { platform_ids: [platformId] }],
    ["/users/track", { attributes: [{ platform_id: platformId, mark: "touched" }] }],
    [
      "/users/track",
      { events: [{ platform_id: platformId, name: "x", time: "2026-01-01T00:00:00Z" }] },
    ],
    ["/users/delete", { platform_ids: [platformId] }],
  ];
  for (const [path, body] of attempts) {
    const answer = await second.send("POST", path, body, { key: intruder.key });
    sent.push({ name: `POST ${path} by platform_id`, sample: { body }, answer });
  }
  const after = await stopped(second, (database) => rowsOf(database, victim.name));

  test("an API key of one workspace cannot change data of another through any endpoint", () => {
    assert.ok(Object.values(before).flat().length > 5, "there is something to change");
    assert.ok(JSON.stringify(before).includes(MARK), "and something to see");
    assert.ok(platformId);
    assert.deepEqual(after, before);
  });

  test("an API key of one workspace cannot see data of another", () => {
    for (const { name, answer } of sent) {
      const shown = JSON.stringify([answer.body, [...answer.headers]]);
      assert.ok(!shown.includes(MARK), `${name} shows it: ${shown}`);
      // An administrator sees every workspace.
      if (!/\/(admin|dashboard)\//.test(name)) assert.ok(!shown.includes(victim.name), name);
    }
  });

  test("no endpoint responds with a 5xx status to a request that names data of another workspace", () => {
    for (const { name, answer } of sent)
      assert.ok(answer.status < 500, `${name}: ${answer.status}`);
    assert.ok(sent.length >= ENDPOINTS.length);
  });
});

/**
 * Most values are in different buckets in two workspaces, which would be enough to keep them apart.
 */
test("an identifier in the same bucket of two workspaces names a user of each of them", async () => {
  const server = await startServer();
  const [one, other] = [await server.workspace(), await server.workspace()];
  const ids = await Promise.all(
    [one, other].map(async ({ name }) => {
      const [row] = await server.database.query<{ id: number }>(
        "select workspace_id as id from workspaces where name = $1",
        [name],
      );
      return row?.id ?? 0;
    }),
  );
  const bucketsOf = (value: string) => ids.map((id) => bucketOfValue(id, value));
  const candidates = Array.from({ length: 100_000 }, (_, index) => `user-${index}`);
  const shared = candidates.find((value) => bucketsOf(value)[0] === bucketsOf(value)[1]) ?? "";
  await one.track({ attributes: [{ external_id: shared, mark: MARK }] });
  assert.deepEqual(await other.profiles({ external_ids: [shared] }), []);
  await other.track({ attributes: [{ external_id: shared, mark: "another" }] });
  const marks = await Promise.all(
    [one, other].map(
      async (each) => (await each.profile({ external_ids: [shared] })).custom_attributes,
    ),
  );
  assert.deepEqual(marks, [{ mark: MARK }, { mark: "another" }]);
});
