/* Archives of the users of a segment (docs/segments.md, Export). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import {
  type Answer,
  startOwnServer,
  type TestServer,
  type TestWorkspace,
} from "../../../harness.ts";
import { filesIn } from "../read-zip.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

const FIELDS = ["external_id", "custom_attributes"];

/** A workspace with users of two plans, and a segment of those with the first. */
async function withSegment(on: TestServer, users: number) {
  const workspace = await on.workspace({ settings: { track_max_updates: 1_000 } });
  const attributes = Array.from({ length: users }, (_, index) => ({
    external_id: `u${index}`,
    plan: index % 2 === 0 ? "pro" : "free",
  }));
  for (let first = 0; first < users; first += 1_000) {
    const { status } = await workspace.track({
      attributes: attributes.slice(first, first + 1_000),
    });
    assert.equal(status, 201);
  }
  const id = randomUUID();
  const filter = { custom_attribute: "plan", equals: "pro" };
  const path = `/admin/v1/workspaces/${workspace.name}/segments/${id}`;
  assert.ok((await on.admin("PUT", path, { name: "Pro", filter })).status < 300);
  return { workspace, id, path };
}

const start = (workspace: TestWorkspace, body: object): Promise<Answer<any>> =>
  workspace.call("POST", "/users/export/segment", { fields_to_export: FIELDS, ...body });

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

const idsIn = (ndjson: Buffer): string[] =>
  ndjson
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).external_id)
    .sort();

/** Receives one POST after another; the first `failures` of them get 500. */
async function receiver(failures = 0) {
  const received: any[] = [];
  let arrived = (_body: any) => {};
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(received.length <= failures ? 500 : 200).end();
    if (received.length > failures) arrived(received.at(-1));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/done`,
    received,
    next: new Promise<any>((resolve) => {
      arrived = resolve;
    }),
    close: () => http.close(),
  };
}

describe("POST /users/export/segment", () => {
  test("the link opens a zip with files of up to 5,000 users of the segment, with the wanted fields", async () => {
    const { workspace, id } = await withSegment(server, 12_000);
    const { status, body } = await start(workspace, { segment_id: id });
    assert.equal(status, 201, JSON.stringify(body));
    assert.match(body.object_prefix, new RegExp(`^segment-export/${id}/`));
    const files = filesIn(await download(body.url));
    assert.deepEqual(
      files.map(({ name, data }) => [name, data.toString().trimEnd().split("\n").length]),
      [
        ["users-000001.json", 5_000],
        ["users-000002.json", 1_000],
      ],
    );
    const ids = files.flatMap(({ data }) => idsIn(data)).sort();
    const expected = Array.from({ length: 6_000 }, (_, index) => `u${2 * index}`).sort();
    assert.deepEqual(ids, expected);
    const [line = ""] = String(files[0]?.data).split("\n");
    assert.deepEqual(Object.keys(JSON.parse(line)).sort(), [...FIELDS].sort());
  });

  test("output_format gzip is one file of all users", async () => {
    const { workspace, id } = await withSegment(server, 11_000);
    const { body } = await start(workspace, { segment_id: id, output_format: "gzip" });
    const users = idsIn(gunzipSync(await download(body.url)));
    assert.equal(users.length, 5_500);
  });

  test("a segment without users is an archive with one empty file", async () => {
    const { workspace, id } = await withSegment(server, 0);
    const { body } = await start(workspace, { segment_id: id });
    const files = filesIn(await download(body.url));
    assert.deepEqual(
      files.map(({ name, data }) => [name, data.length]),
      [["users-000001.json", 0]],
    );
  });

  test("a user who was erased after the export was asked for is not in the archive", async () => {
    const { workspace, id } = await withSegment(server, 6);
    const { body } = await start(workspace, { segment_id: id });
    await workspace.call("POST", "/users/delete", { external_ids: ["u2"] });
    const [file] = filesIn(await download(body.url));
    assert.deepEqual(idsIn(file?.data ?? Buffer.alloc(0)), ["u0", "u4"]);
  });

  test("the callback gets a separate link, with retries, and until then the segment has no other export", async () => {
    const { workspace, id } = await withSegment(server, 4);
    const callback = await receiver(1);
    const wanted = { segment_id: id, callback_endpoint: callback.url };
    const first = await start(workspace, wanted);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    const second = await start(workspace, wanted);
    if (callback.received.length < 2) {
      assert.deepEqual(
        [second.status, second.body.message],
        [429, "Another export of this segment is in progress."],
      );
    }
    const { success, url, object_prefix } = await callback.next;
    assert.deepEqual([success, object_prefix], [true, first.body.object_prefix]);
    assert.notEqual(url, first.body.url);
    for (const each of [url, first.body.url]) {
      const [file] = filesIn(await download(each));
      assert.deepEqual(idsIn(file?.data ?? Buffer.alloc(0)), ["u0", "u2"]);
    }
    callback.close();
  });

  test("a link that is wrong or older than four hours gets 404, and a reset ends links", async () => {
    const { workspace, id } = await withSegment(server, 2);
    const { body } = await start(workspace, { segment_id: id });
    assert.equal((await fetch(`${body.url}x`)).status, 404);
    const later = (minutes: number) =>
      server.database.query(
        "update segment_exports set expires_at = expires_at - $2 * interval '1 minute' where segment_id = $1",
        [id, minutes],
      );
    await later(235);
    assert.equal((await fetch(body.url)).status, 200);
    await later(5);
    assert.equal((await fetch(body.url)).status, 404);
    const next = await start(workspace, { segment_id: id });
    assert.equal((await fetch(next.body.url)).status, 200);
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.equal((await fetch(next.body.url)).status, 404);
  });

  test("requests that cannot be carried out are refused with the field", async () => {
    const { workspace, id } = await withSegment(server, 1);
    const refusals: [object, number, RegExp][] = [
      [{ segment_id: randomUUID() }, 404, /Segment not found/],
      [{ segment_id: id, fields_to_export: [] }, 400, /fields_to_export/],
      [{ segment_id: id, fields_to_export: ["custom_attributes.plan"] }, 400, /fields_to_export/],
      [{ segment_id: id, output_format: "rar" }, 400, /output_format/],
      [{ segment_id: id, callback_endpoint: "ftp://a.example" }, 400, /callback_endpoint/],
      [{ segment_id: id, callback_endpoint: "http://u:p@a.example" }, 400, /callback_endpoint/],
      [{ segment_id: id, callback_endpoint: "http://169.254.169.254/" }, 400, /callback_endpoint/],
    ];
    for (const [body, status, message] of refusals) {
      const refused = await start(workspace, body);
      assert.equal(refused.status, status, JSON.stringify(body));
      assert.match(refused.body.message, message);
    }
    const { workspace: other } = await withSegment(server, 0);
    assert.equal((await start(other, { segment_id: id })).status, 404);
  });
});
