/* Exports of segments that are written into the bucket of a workspace (docs/segments.md, Export). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { startOwnServer, type TestWorkspace } from "../../../harness.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startStorage } from "../../../s3-server.ts";
import { sample } from "../../../sizes.ts";
import { until } from "../../../until.ts";
import { filesIn } from "../../exports/read-zip.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

/** Receives the reports of exports. */
const reports = new Map<string, any>();
const callback = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const report = JSON.parse(Buffer.concat(chunks).toString());
  reports.set(report.object_prefix, report);
  response.end();
});
await new Promise<void>((resolve) => callback.listen(0, "127.0.0.1", resolve));
after(() => callback.close());
const callback_endpoint = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/`;

async function reportOf(prefix: string): Promise<any> {
  await until(() => reports.has(prefix));
  return reports.get(prefix);
}

interface Place {
  readonly users?: number;
  readonly url?: string;
  readonly settings?: object;
  /** Laid over the connection. */
  readonly connection?: object;
}

/** A workspace with a bucket, users, and a segment of every second one. */
async function withBucket({ users = 4, url, settings, connection }: Place = {}) {
  const storage = await startStorage();
  const name = `exports-${randomUUID()}`;
  const workspace = await server.workspace({
    settings: {
      track_max_updates: 1_000,
      export_bucket: { connection: name, url: url ?? "s3://crm/out/" },
      ...settings,
    },
  });
  const declared = await server.admin("PUT", `/admin/v1/connections/${name}`, {
    type: "s3",
    workspaces: [workspace.name],
    endpoint: storage.endpoint,
    region: REGION,
    access_key_id: ACCESS_KEY_ID,
    secret_access_key: SECRET_ACCESS_KEY,
    ...connection,
  });
  assert.ok(declared.status < 300, JSON.stringify(declared.body));
  for (let first = 0; first < users; first += 1_000) {
    const attributes = Array.from({ length: Math.min(1_000, users - first) }, (_, index) => ({
      external_id: `u${first + index}`,
      plan: (first + index) % 2 === 0 ? "pro" : "free",
    }));
    assert.equal((await workspace.track({ attributes })).status, 201);
  }
  const id = randomUUID();
  const filter = { custom_attribute: "plan", equals: "pro" };
  const path = `/admin/v1/workspaces/${workspace.name}/segments/${id}`;
  assert.ok((await server.admin("PUT", path, { name: "Pro", filter })).status < 300);
  return { workspace, storage, id };
}

async function startExport(workspace: TestWorkspace, segment_id: string, more: object = {}) {
  const body = { segment_id, fields_to_export: ["external_id"], callback_endpoint, ...more };
  const response = await workspace.call<any>("POST", "/users/export/segment", body);
  assert.equal(response.status, 201, JSON.stringify(response.body));
  return response.body;
}

const idsIn = (data: Uint8Array): string[] =>
  Buffer.from(data)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).external_id);

describe("an export of a workspace with a bucket", () => {
  test("it is written below the prefix of the response as zip files of 5,000 users, and the callback tells their number", async () => {
    const { workspace, storage, id } = await withBucket({ users: 10_200 });
    const body = await startExport(workspace, id);
    assert.equal(body.url, undefined);
    const report = await reportOf(body.object_prefix);
    assert.deepEqual(report, {
      success: true,
      object_prefix: body.object_prefix,
      files: 2,
      users: 5_100,
    });
    const folder = `out/${body.object_prefix}`;
    const names = [...storage.objects.keys()];
    assert.deepEqual(names, [`${folder}/users-000001.zip`, `${folder}/users-000002.zip`]);
    const files = names.map((name) => filesIn(Buffer.from(storage.objects.get(name) ?? []))[0]);
    const ids = files.map((file) => idsIn(file?.data ?? Buffer.alloc(0)));
    assert.deepEqual(
      ids.map(({ length }) => length),
      [5_000, 100],
    );
    assert.equal(new Set(ids.flat()).size, 5_100);
  });

  test("output_format gzip writes gzip files", async () => {
    const { workspace, storage, id } = await withBucket();
    const { object_prefix } = await startExport(workspace, id, { output_format: "gzip" });
    await reportOf(object_prefix);
    const data = storage.objects.get(`out/${object_prefix}/users-000001.json.gz`);
    assert.deepEqual(idsIn(gunzipSync(data ?? Buffer.alloc(0))).sort(), ["u0", "u2"]);
  });

  test("without a callback the export is still written, and the segment is free for the next one afterwards", async () => {
    const { workspace, storage, id } = await withBucket();
    await startExport(workspace, id, { callback_endpoint: undefined });
    await until(() => storage.objects.size !== 0);
    for (;;) {
      const body = { segment_id: id, fields_to_export: ["external_id"] };
      const { status } = await workspace.call("POST", "/users/export/segment", body);
      if (status === 201) break;
      assert.equal(status, 429);
      await sleep(20);
    }
  });

  test("a storage that is busy is asked again, and no object is written twice under another name", async () => {
    const { workspace, storage, id } = await withBucket();
    storage.faults.busyPuts = 1;
    const { object_prefix } = await startExport(workspace, id);
    assert.equal((await reportOf(object_prefix)).success, true);
    assert.equal(storage.objects.size, 1);
    assert.equal(storage.requests.length, 2);
  });

  test("an export that another server left goes on after the last file that was written", async () => {
    const { workspace, storage, id } = await withBucket({ users: 8 });
    storage.faults.busyPuts = 1;
    const { object_prefix } = await startExport(workspace, id);
    await until(() => storage.requests.length !== 0);
    // As a server would have left it that was killed after a first file with two of the four users.
    const filter = { custom_attribute: "plan", equals: "pro" };
    const listed = `/admin/v1/workspaces/${workspace.name}/segments/users`;
    const { users } = (await server.admin("POST", listed, { filter })).body as any;
    await server.database.query(
      "update segment_exports set after = $2::uuid, files = 1, users = 2 where segment_id = $1::uuid",
      [id, users[1].platform_id],
    );
    const report = await reportOf(object_prefix);
    assert.deepEqual([report.files, report.users], [2, 4]);
    const [name = "", ...others] = [...storage.objects.keys()];
    assert.match(name, /users-000002\.zip$/);
    assert.deepEqual(others, []);
    const [file] = filesIn(Buffer.from(storage.objects.get(name) ?? []));
    assert.deepEqual(
      idsIn(file?.data ?? Buffer.alloc(0)).sort(),
      users
        .slice(2)
        .map((user: any) => user.external_id)
        .sort(),
    );
  });

  test("an export ends as failed, and reports to nobody, when the key that asked for it is revoked", async () => {
    const { workspace, storage, id } = await withBucket();
    storage.faults.busyPuts = 1;
    const { object_prefix } = await startExport(workspace, id);
    while (storage.requests.length === 0) await sleep(5);
    await server.admin("DELETE", `/admin/v1/workspaces/${workspace.name}/api-keys/test`);
    const found = "select failure from segment_exports where prefix = $1 and not is_running";
    let ended: { failure: string }[] = [];
    while (ended.length === 0) {
      await sleep(20);
      ended = await server.database.query(found, [object_prefix]);
    }
    assert.match(ended[0]?.failure ?? "", /may no longer export/);
    assert.deepEqual([storage.objects.size, reports.has(object_prefix)], [0, false]);
  });

  const refusals: [
    string,
    (storage: Awaited<ReturnType<typeof startStorage>>) => void,
    Place,
    RegExp,
  ][] = [
    [
      "that refuses the object",
      (storage) => {
        storage.faults.refusesPuts = "AccessDenied";
      },
      {},
      /The storage refuses s3:\/\/crm\/out\/: AccessDenied\./,
    ],
    ["that does not exist", () => {}, { url: "s3://other/out/" }, /NoSuchBucket/],
    [
      "with a wrong key",
      () => {},
      { connection: { secret_access_key: "wrong" } },
      /^The bucket cannot be written through its connection\. The log of the server says why\.$/,
    ],
    [
      "outside the root of the connection",
      () => {},
      { connection: { root: "s3://crm/in/" } },
      /is not below the root of the connection/,
    ],
    [
      "whose connection does not list the workspace",
      () => {},
      { connection: { workspaces: [] } },
      /There is no connection 'exports-.*' of type s3 for this workspace\./,
    ],
  ];
  for (const [what, prepare, place, message] of sample(refusals, 1)) {
    test(`a bucket ${what} fails the export at once, and the callback says why`, async () => {
      const { workspace, storage, id } = await withBucket(place);
      prepare(storage);
      const { object_prefix } = await startExport(workspace, id);
      const report = await reportOf(object_prefix);
      assert.equal(report.success, false);
      assert.match(report.message, message);
      assert.equal(storage.objects.size, 0);
    });
  }

  test("a bucket needs a connection and a folder, and its URL cannot leave the folder", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/settings`;
    const { settings } = (await server.admin("GET", path)).body as any;
    for (const url of ["s3://Crm/", "s3://crm", "s3://crm/out", "https://crm/", "s3://crm/../"]) {
      const wanted = { ...settings, export_bucket: { connection: "exports", url } };
      const { status, body } = await server.admin("PUT", path, wanted);
      assert.equal(status, 400, url);
      assert.match(String(body.message), /export_bucket/);
    }
    const half = { ...settings, export_bucket: { connection: "exports" } };
    assert.equal((await server.admin("PUT", path, half)).status, 400);
  });

  test("with the change feed on, the end of an export is a change", async () => {
    const { workspace, id } = await withBucket({ settings: { change_feed: true } });
    const { object_prefix } = await startExport(workspace, id);
    await reportOf(object_prefix);
    const path = `/admin/v1/workspaces/${workspace.name}/changes?cursor=beginning&types=export.finished`;
    const { changes } = (await server.admin("GET", path)).body as any;
    assert.equal(changes.length, 1);
    const { type, segment_id, status, files, users } = changes[0];
    assert.deepEqual(
      [type, segment_id, status, files, users, changes[0].object_prefix, changes[0].user],
      ["export.finished", id, "success", 1, 2, object_prefix, undefined],
    );
  });
});
