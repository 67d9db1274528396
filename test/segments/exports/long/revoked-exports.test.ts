/* An export ends with the API key that asked for it, and shows its link to nobody else (SECURITY.md). */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, describe, test } from "node:test";
import { type Answer, ENGINE, startOwnServer } from "../../../harness.ts";
import { until } from "../../../until.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

/** On PostgreSQL another server sends the archives, and learns of the end of a key from the database alone. */
const sender =
  ENGINE === "postgres"
    ? await startOwnServer({
        databaseUrl: server.config.databaseUrl,
        outboundAllow: ["127.0.0.1"],
      })
    : server;

/** Their archive has 12 MB: the operating systems of both sides buffer about 5 MB for a client that does not read. */
const MANY = 250;

/** Attributes that compression makes little smaller. */
const notes = () =>
  Object.fromEntries(
    Array.from({ length: 250 }, (_, index) => [`n${index}`, randomBytes(180).toString("base64")]),
  );

async function withExport(users = 2, more: object = {}) {
  const workspace = await server.workspace({
    settings: { change_feed: true, track_max_updates: 1_000 },
  });
  const attributes = Array.from({ length: users }, (_, index) => ({
    external_id: `u${index}`,
    ...(users === MANY && notes()),
  }));
  for (let first = 0; first < users; first += 50) {
    const { status, body } = await workspace.track({
      attributes: attributes.slice(first, first + 50),
    });
    assert.equal(status, 201, JSON.stringify(body));
  }
  const id = randomUUID();
  const filter = { attribute: "external_id", exists: true };
  const path = `/admin/v1/workspaces/${workspace.name}`;
  const declared = await server.admin("PUT", `${path}/segments/${id}`, { name: "All", filter });
  assert.ok(declared.status < 300, JSON.stringify(declared.body));
  const permissions = ["users.export.segment"];
  const made = await server.admin("POST", `${path}/api-keys`, { name: "exporter", permissions });
  const body = {
    segment_id: id,
    fields_to_export: ["external_id", "custom_attributes"],
    ...more,
  };
  const { key } = made.body;
  const asked = await sender.send("POST", "/users/export/segment", body, { key });
  const { status, body: started } = asked;
  assert.equal(status, 201, JSON.stringify(started));
  return { workspace, url: String(started.url), prefix: String(started.object_prefix), path };
}

const LAST_CHUNK = "\r\n0\r\n\r\n";

const statusOf = async (url: string): Promise<number> => {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
};

const exporter = (path: string) => `${path}/api-keys/exporter`;

describe("a link to an export", () => {
  const put = (path: string, grant: object): Promise<Answer<any>> =>
    server.admin("PUT", exporter(path), {
      permissions: ["users.export.segment"],
      ip_allowlist: [],
      ...grant,
    });
  const ends: Record<string, (path: string) => Promise<Answer<any>>> = {
    "is revoked": (path) => server.admin("DELETE", exporter(path)),
    "loses the permission": (path) => put(path, { permissions: ["users.track"] }),
    "may no longer be used from its address": (path) =>
      put(path, { ip_allowlist: ["203.0.113.7"] }),
    "is rotated without an overlap": (path) =>
      server.admin("POST", `${exporter(path)}/rotate`, { overlap_seconds: 0 }),
    "is deleted with its workspace": (path) => server.admin("DELETE", path),
  };
  for (const [how, end] of Object.entries(ends)) {
    test(`a link no longer opens when the key that asked for it ${how}`, async () => {
      const { url, path } = await withExport();
      assert.equal(await statusOf(url), 200);
      const { status, body } = await end(path);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(await statusOf(url), 404);
    });
  }

  test("a link still opens while the secret that asked for it is replaced", async () => {
    const { url, path } = await withExport();
    await server.admin("POST", `${exporter(path)}/rotate`, { overlap_seconds: 3_600 });
    assert.equal(await statusOf(url), 200);
  });

  test("an archive that is being sent is broken off when the key that asked for it is revoked", async () => {
    const { url, path, prefix } = await withExport(MANY);
    const { hostname, port, pathname } = new URL(url);
    const socket = connect(Number(port), hostname).pause();
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const isSending = "select 1 from segment_exports where downloads = 1 and prefix = $1";
    await until(async () => (await server.database.query(isSending, [prefix])).length === 1);
    await server.admin("DELETE", exporter(path));
    // Nothing is read before the server has given up, so most of it is still there. That takes a second, or more on a busy machine.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    let end = "";
    socket.on("data", (chunk) => {
      end = `${end}${chunk.toString("latin1")}`.slice(-LAST_CHUNK.length);
    });
    socket.on("error", () => {}).resume();
    await once(socket, "close");
    assert.notEqual(end, LAST_CHUNK);
  });

  test("a link opens a hundred times; each download is audited, and the feed has the end of the export once", async () => {
    const { workspace, url, prefix } = await withExport();
    for (let count = 0; count < 3; count++) assert.equal(await statusOf(url), 200);
    const feed = await workspace.call<any>(
      "GET",
      "/changes?cursor=beginning&types=export.finished",
    );
    assert.deepEqual(
      feed.body.changes.map(({ object_prefix }: any) => object_prefix),
      [prefix],
    );
    const audit = await server.admin("GET", "/admin/v1/audit?kind=segment_export&limit=50");
    const own = audit.body.entries.filter((entry: any) => entry.workspace === workspace.name);
    assert.deepEqual(
      own.map(({ action, actor, address }: any) => [action, actor, address !== null]),
      Array(3).fill(["read", "anybody", true]),
    );
    await server.database.query("update segment_exports set downloads = 99 where prefix = $1", [
      prefix,
    ]);
    assert.equal(await statusOf(url), 200);
    assert.equal(await statusOf(url), 404);
  });

  test("a report that is tried again is not sent once the key that asked for the export is revoked", async () => {
    let reports = 0;
    const receiver = createServer((_, response) => {
      reports++;
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    after(() => receiver.close());
    const { port } = receiver.address() as AddressInfo;
    const { path, prefix } = await withExport(2, {
      callback_endpoint: `http://127.0.0.1:${port}/`,
    });
    await until(() => reports === 1);
    await server.admin("DELETE", exporter(path));
    await until(async () => {
      const running = "select 1 from segment_exports where prefix = $1 and is_running";
      return (await server.database.query(running, [prefix])).length === 0;
    });
    assert.equal(reports, 1);
  });
});

test("live requests show no link that a response has, in memory and in the database", async () => {
  const { workspace, url, path } = await withExport();
  const [center] = (await workspace.call<any>("GET", "/preference_center/v1/list")).body
    .preference_centers;
  const id = center?.preference_center_api_id;
  const page = id && (await workspace.call<any>("GET", `/preference_center/v1/${id}/url/u0`));
  if (page) assert.match(page.body.preference_center_url, /^http/);
  const shown = async (at = server) =>
    JSON.stringify((await at.admin("GET", `${path}/requests`)).body);
  await until(async () => (await shown(sender)).includes("/users/export/segment"));
  for (const at of [server, sender]) {
    const requests = await shown(at);
    assert.ok(!requests.includes(new URL(url).pathname), requests);
    if (page) assert.ok(!requests.includes(page.body.preference_center_url));
  }
  assert.match(await shown(sender), /"url":"•+"/);
  const stored = await server.database.query<{ response: string }>(
    "select response from live_requests where response like '%segment-exports/%'",
  );
  assert.equal(stored.length, 0);
});
