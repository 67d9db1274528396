/* The stream of requests of API keys, as server-sent events. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { freePort } from "../../free-port.ts";
import { startOwnServer, type TestServer } from "../../harness.ts";
import { declare, scimClient, WORKSPACE } from "../../scim-client.ts";
import { until } from "../../until.ts";
import { startProvider, visit } from "../identity-provider.ts";
import { continueSession, type SignedIn } from "../signed-in.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server, {}, [WORKSPACE]);
const scim = scimClient(server);

const NOON = "2026-01-01T12:00:00Z";

const pathOf = (workspace: string) => `/admin/v1/workspaces/${workspace}/requests/stream`;

const track = (body: unknown, key = "dev-key") =>
  server.send("POST", "/users/track", body, { key });

const seen = (external_id: string) =>
  track({ events: [{ external_id, name: "seen", time: NOON }] });

const permissionsOf = (appGroupPermissions: readonly string[]) => ({
  companyPermissions: [],
  appGroup: [{ appGroupName: "demo", appGroupPermissions }],
});

async function person(permissions: readonly string[]): Promise<SignedIn & { id: string }> {
  const user = (await scim.user({ permissions: permissionsOf(permissions) })) as any;
  provider.signsIn({ email: user.userName, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  return { ...(await continueSession(server, cookie)), id: user.id };
}

const permit = (id: string, permissions: readonly string[]) =>
  scim.patch(id, { op: "replace", path: "permissions", value: permissionsOf(permissions) });

/** Requests as a stream passes them on. `next` fails when the stream ends first. */
interface Stream {
  readonly status: number;
  readonly type: string | null;
  /** The message of a refused stream. */
  readonly refusal: string | undefined;
  next(type?: string): Promise<any>;
  /** Resolves to the unexpected requests when the server has ended the stream. */
  ended(): Promise<any[]>;
  close(): void;
}

async function open(
  headers: Record<string, string>,
  { query = "", workspace = "demo", at = server as TestServer } = {},
): Promise<Stream> {
  const connection = new AbortController();
  const { signal } = connection;
  const response = await fetch(`${at.url}${pathOf(workspace)}?${query}`, { headers, signal });
  const events = response.ok ? eventsIn(response) : undefined;
  const refusal = response.ok ? undefined : ((await response.json()) as any).message;
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    refusal,
    async next(type = "request") {
      for (;;) {
        const { value } = (await events?.next()) ?? {};
        assert.ok(value, "The stream ended.");
        if (value.type === type) return value.data;
      }
    },
    async ended() {
      const left: any[] = [];
      for await (const { type, data } of events ?? []) if (type === "request") left.push(data);
      return left;
    },
    close: () => connection.abort(),
  };
}

async function* eventsIn(response: Response): AsyncGenerator<{ type: string; data: any }> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    const blocks = (text + Buffer.from(chunk as Uint8Array)).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, type, data] = /^event: (\w+)\n(?:id: .*\n)?data: (.*)$/.exec(block) ?? [];
      if (type && data) yield { type, data: JSON.parse(data) };
    }
  }
}

const byAdmin = { authorization: `Bearer ${server.adminToken}` };

describe("the stream of live requests", () => {
  test("a stream passes on the requests that match as they come in, as server-sent events", async () => {
    const stream = await open(byAdmin, { query: "status=400" });
    assert.match(stream.type ?? "", /^text\/event-stream/);
    await seen("ada");
    await track({ events: "none" });
    const event = await stream.next();
    assert.equal(event.status, 400);
    assert.match(event.response.message, /events/);
    const { body } = await server.admin("GET", `/admin/v1/workspaces/demo/requests/${event.id}`);
    assert.deepEqual(body.request, event);
    stream.close();
  });

  test("a stream has no requests of other workspaces", async () => {
    const other = await server.workspace();
    const stream = await open(byAdmin, { workspace: other.name });
    await seen("ada");
    await other.track({ events: [{ external_id: "own", name: "seen", time: NOON }] });
    assert.equal((await stream.next()).items[0].user, "own");
    stream.close();
  });

  test("a stream goes on after the last event that its reader received", async () => {
    const stream = await open(byAdmin, { query: "endpoint=/users/track" });
    await seen("first");
    const { id } = await stream.next();
    stream.close();
    await seen("second");
    const next = await open(
      { ...byAdmin, "last-event-id": id },
      { query: "endpoint=/users/track" },
    );
    assert.equal((await next.next()).items[0].user, "second");
    next.close();
  });

  test("a stream ends after its time, and passes on all requests until then", async () => {
    const stream = await open(byAdmin, { query: "for_seconds=1" });
    await seen("ada");
    const left = await stream.ended();
    assert.deepEqual(
      left.map(({ path }) => path),
      ["/users/track"],
    );
    for (const query of ["for_seconds=3601", "for_seconds=-1", "status=4"]) {
      const refused = await open(byAdmin, { query });
      assert.equal(refused.status, 400);
      assert.match(refused.refusal ?? "", new RegExp(query.split("=", 1)[0] ?? ""));
    }
  });

  test("when more requests come in at once than a stream passes on, it tells how many are left out", async () => {
    await seen("many");
    const { body } = await server.admin("GET", "/admin/v1/workspaces/demo/requests?limit=1");
    for (let count = 0; count < 150; count++) await seen("many");
    const headers = { ...byAdmin, "last-event-id": body.requests[0].id };
    const stream = await open(headers, { query: "user=many&for_seconds=1" });
    assert.equal((await stream.next("skipped")).skipped, 50);
    assert.equal((await stream.ended()).length, 100);
  });

  test("a server that keeps no live requests refuses a stream and names the setting", async () => {
    const off = await startOwnServer({ liveRequests: 0 });
    const { name } = await off.workspace();
    const headers = { authorization: `Bearer ${off.adminToken}` };
    const { status, refusal } = await open(headers, { workspace: name, at: off });
    assert.equal(status, 404);
    assert.match(refusal ?? "", /LIVE_REQUESTS/);
  });

  test("a person has four streams at a time in all sessions and a workspace sixteen, and closing one frees its place", async () => {
    const people: SignedIn[] = [];
    for (let count = 0; count < 5; count++) people.push(await person(["dev_console"]));
    const { userName } = (await scim.users("GET", `/${(people[0] as any).id}`)).body;
    provider.signsIn({ email: userName, email_verified: true });
    const second = await visit(server, "/dashboard/sign-in/oidc");
    const streams: Stream[] = [];
    const openFor = (index: number) => open({ cookie: people[index]?.cookie ?? "" });
    for (const index of [0, 1, 2, 3]) {
      for (let count = 0; count < 4; count++) streams.push(await openFor(index));
      if (index > 0) continue;
      const fifth = await open({ cookie: second.cookie });
      assert.deepEqual([fifth.status, /You have 4 streams/.test(fifth.refusal ?? "")], [429, true]);
    }
    assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200]);
    const seventeenth = await openFor(4);
    assert.equal(seventeenth.status, 429);
    assert.match(seventeenth.refusal ?? "", /The workspace has 16 streams/);
    for (const stream of streams) stream.close();
    // The server gives the room back after a moment.
    const again = await until(async () => {
      const opened = await openFor(4);
      return opened.status !== 429 && opened;
    });
    assert.equal(again.status, 200);
    again.close();
  });
});

describe("who may follow the stream of live requests", () => {
  test("a stream needs dev_console, and ends when the permission is revoked or the session ends", async () => {
    const stranger = await person(["basic_access"]);
    assert.equal((await open({ cookie: stranger.cookie })).status, 403);
    const revoked = await person(["dev_console"]);
    const signedOut = await person(["dev_console"]);
    const streams = await Promise.all([revoked, signedOut].map(({ cookie }) => open({ cookie })));
    assert.deepEqual(
      streams.map(({ status }) => status),
      [200, 200],
    );
    await permit(revoked.id, []);
    await signedOut.call("DELETE", "/dashboard/session");
    // The server may break it off.
    const isBrokenOff = (error: Error) => assert.match(error.message, /terminated/);
    await Promise.all(streams.map((stream) => stream.ended().catch(isBrokenOff)));
  });

  test("a stream shows personal data only while its reader has view_pii", async () => {
    const support = await person(["dev_console", "view_pii"]);
    const stream = await open({ cookie: support.cookie });
    const filtered = await open({ cookie: support.cookie }, { query: "user=private-ada" });
    await seen("private-ada");
    assert.equal((await stream.next()).items[0].user, "private-ada");
    assert.equal((await filtered.next()).items[0].user, "private-ada");
    await permit(support.id, ["dev_console"]);
    // A search by user tells who is there, so that it ends.
    assert.equal((await open({ cookie: support.cookie }, { query: "user=a" })).status, 403);
    await filtered.ended();
    await seen("private-ada");
    const event = await stream.next();
    assert.deepEqual([event.body, event.response, event.items[0].user], [null, null, null]);
    assert.doesNotMatch(JSON.stringify(event), /private-ada/);
    stream.close();
  });

  test("opening a stream is audited with the name of the person", async () => {
    const developer = await person(["dev_console"]);
    await (await open({ cookie: developer.cookie }, { query: "for_seconds=0" })).ended();
    const { body } = await server.admin("GET", "/admin/v1/audit?kind=live_requests&limit=1");
    assert.match(JSON.stringify(body), /requests\/stream/);
  });

  test("a server that stops ends its streams", async () => {
    const own = await startOwnServer();
    const { name } = await own.workspace();
    const headers = { authorization: `Bearer ${own.adminToken}` };
    const stream = await open(headers, { workspace: name, at: own });
    assert.equal(stream.status, 200);
    const ended = stream.ended();
    await own.stop();
    await ended;
  });
});
