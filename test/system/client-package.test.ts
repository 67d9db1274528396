/* The package rapport-client against a real server, and against proxies that fail. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Client, createClient, ItemRejected, RapportError } from "../../client/src/client.ts";
import { OPERATIONS } from "../../client/src/operations.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { DOCUMENT_FILES } from "../../src/server/reference/documents.ts";
import { startServer, type TestWorkspace } from "../harness.ts";
import { failingProxy } from "./failing-proxy.ts";

const server = await startServer();
const TIME = "2026-01-01T12:00:00Z";
const FAST = { firstPauseMs: 1, longestPauseMs: 5 };

const clientOf = ({ key }: TestWorkspace): Client =>
  createClient({ url: server.url, key, adminToken: server.adminToken });

async function connect(settings: Record<string, unknown> = {}) {
  const workspace = await server.workspace({ settings });
  return { workspace, rapport: clientOf(workspace) };
}

const opened = (external_id: string, name = "opened") => ({ external_id, name, time: TIME });

const proxy = (intervene: Parameters<typeof failingProxy>[1]) =>
  failingProxy(server.url, intervene);

describe("a call of the client", () => {
  test("a client call returns the body of a success and throws a refusal with its message", async () => {
    const { rapport } = await connect();
    const done = await rapport.trackUsers({ body: { events: [opened("ada")] } });
    assert.deepEqual(done, { events_processed: 1, message: "success" });
    const { users } = await rapport.exportUsers({ body: { external_ids: ["ada"] } });
    assert.equal(users.length, 1);
    await assert.rejects(rapport.trackUsers({ body: {} }), (error: RapportError) => {
      assert.ok(error instanceof RapportError);
      assert.equal(error.status, 400);
      assert.match(error.message, /Valid data must be provided/);
      assert.ok(error.requestId);
      return true;
    });
  });

  test("the client sends query parameters for reads and path parameters for administration", async () => {
    const { rapport, workspace } = await connect();
    const id = "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20";
    const { status } = await rapport.getSubscriptionState({
      query: { subscription_group_id: id, external_id: ["nobody-known"] },
    });
    assert.deepEqual(Object.values(status), ["Unknown"]);
    const app = { name: "Kiosk", platform: "web" } as const;
    const made = await rapport.admin.putApp({
      path: { name: workspace.name, id: "kiosk" },
      body: app,
    });
    assert.equal(made.name, "Kiosk");
    const { apps } = await rapport.admin.listApps({ path: { name: workspace.name } });
    assert.ok(apps.some((each) => each.id === "kiosk"));
  });

  test("the client has the calls with a key at its top, separate places for those of administrators and of SCIM, and none for pages", () => {
    const rapport = createClient({ url: server.url });
    const { admin, scim, tracker, ...calls } = rapport;
    assert.ok("trackUsers" in calls && "checkReadiness" in calls);
    assert.ok("listWorkspaces" in admin && "createDashboardUser" in scim);
    for (const name of Object.keys(calls)) {
      assert.ok(!(name in admin || name in scim), name);
      assert.doesNotMatch(name, /Session|signIn|PreferencePage$|EngineCopy/);
    }
    assert.doesNotMatch(Object.keys(admin).join(" "), /EngineCopy|streamLiveRequests/);
    assert.equal(typeof tracker, "function");
  });

  test("a client call returns the text of a response that is not JSON", async () => {
    const { rapport, workspace } = await connect();
    const path = { name: workspace.name, kind: "users" } as const;
    await rapport.trackUsers({
      body: { attributes: [{ external_id: "ada" }, { external_id: "eve" }] },
    });
    const users = (await rapport.admin.streamExport({ path })) as unknown as string;
    assert.match(users, /"ada".*"eve"|"eve".*"ada"/s);
  });

  test("needs the credential of its operation", async () => {
    const rapport = createClient({ url: server.url });
    await assert.rejects(rapport.trackUsers({ body: {} }), /trackUsers needs 'key'/);
    await assert.rejects(rapport.scim.listDashboardUsers(), /needs 'scim'/);
    await assert.rejects(rapport.admin.listWorkspaces(), /needs 'adminToken'/);
  });

  test("whose response is lost is repeated with the same Idempotency-Key and takes effect once", async () => {
    const { workspace } = await connect();
    const { url, requests } = await proxy((request, _response, count) => {
      if (count > 2) return false;
      request.socket.destroy();
      return true;
    });
    const rapport = createClient({ url, key: workspace.key, ...FAST });
    await rapport.trackUsers({ body: { events: [opened("ada")] } });
    assert.equal(requests.length, 3);
    assert.equal(new Set(requests.map(({ key }) => key)).size, 1);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 1);
  });

  test("that is limited waits as long as Retry-After says", async () => {
    const { workspace } = await connect();
    const { url, requests } = await proxy((_request, response, count) => {
      if (count > 1) return false;
      response.writeHead(429, { "retry-after": "1" }).end("{}");
      return true;
    });
    const rapport = createClient({ url, key: workspace.key, ...FAST });
    const before = performance.now();
    await rapport.listIntegrations();
    assert.ok(performance.now() - before >= 990);
    assert.equal(requests.length, 2);
  });

  test("the client gives up after its retries and throws the last response", async () => {
    const { workspace } = await connect();
    const { url, requests } = await proxy((_request, response) => {
      response.writeHead(503, { "content-type": "application/json" }).end('{"message":"Busy."}');
      return true;
    });
    const rapport = createClient({ url, key: workspace.key, ...FAST, retries: 2 });
    await assert.rejects(rapport.trackUsers({ body: { events: [opened("ada")] } }), {
      message: "Busy.",
      status: 503,
    });
    assert.equal(requests.length, 3);
  });

  test("a client call whose response breaks off is repeated with the same Idempotency-Key", async () => {
    const { workspace } = await connect();
    const { url, requests } = await proxy((_request, response, count) => {
      if (count > 1) return false;
      response.writeHead(201, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"message":', () => response.destroy());
      return true;
    });
    const rapport = createClient({ url, key: workspace.key, ...FAST });
    const done = await rapport.trackUsers({ body: { events: [opened("ada")] } });
    assert.equal(done.events_processed, 1);
    assert.equal(requests.length, 2);
    assert.equal(new Set(requests.map(({ key }) => key)).size, 1);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 1);
  });

  test("that is not safe to repeat is not repeated after a 500", async () => {
    const { url, requests } = await proxy((_request, response) => {
      response.writeHead(500).end("{}");
      return true;
    });
    const rapport = createClient({ url, adminToken: server.adminToken, ...FAST });
    await assert.rejects(
      rapport.admin.applyManifest({ body: { company: { name: "Test" }, workspaces: [] } }),
    );
    assert.equal(requests.length, 1);
  });

  test("a client call ends when its signal is aborted and when an attempt takes too long", async () => {
    const { workspace } = await connect();
    const { url } = await proxy(() => true);
    const rapport = createClient({ url, key: workspace.key, timeoutMs: 50, retries: 0 });
    await assert.rejects(rapport.listIntegrations(), /listIntegrations got no response/);
    const patient = createClient({ url, key: workspace.key });
    const signal = AbortSignal.timeout(50);
    await assert.rejects(patient.listIntegrations({}, { signal }), { name: "TimeoutError" });
  });
});

test("a client call that asks the server to wait is given that time beside its own", async () => {
  const { workspace } = await connect({ change_feed: true });
  const { url, requests } = await proxy(() => false);
  const rapport = createClient({ url, key: workspace.key, timeoutMs: 2_000 });
  const { cursor } = await rapport.getChanges();
  const { changes } = await rapport.getChanges({ query: { cursor, wait_s: 3 } });
  assert.deepEqual(changes, []);
  assert.equal(requests.length, 2);
});

describe("a tracker of the client", () => {
  test("the tracker returns to every caller the verdict on its own item", async () => {
    const { rapport, workspace } = await connect();
    const failed: unknown[] = [];
    const tracker = rapport.tracker({ onRejected: (error) => failed.push(error) });
    const verdicts = await Promise.allSettled([
      tracker.event(opened("ada")),
      tracker.event({ external_id: "ada", name: "", time: TIME }),
      tracker.attributes({ external_id: "nobody", plan: "gold", _update_existing_only: true }),
      tracker.purchase({
        external_id: "ada",
        product_id: "tea",
        currency: "EUR",
        price: 1,
        time: TIME,
      }),
    ]);
    await tracker.close();
    assert.deepEqual(verdicts[0], { status: "fulfilled", value: { outcome: "recorded" } });
    assert.ok(verdicts[1]?.status === "rejected" && verdicts[1].reason instanceof ItemRejected);
    assert.equal(verdicts[1].reason.code, "INVALID_NAME");
    assert.ok(verdicts[2]?.status === "fulfilled" && verdicts[2].value.outcome === "skipped");
    assert.deepEqual(failed, [verdicts[1].reason]);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 1);
  });

  test("the tracker sends few requests, and none with more items than a request may hold", async () => {
    const { workspace } = await connect();
    const { url, requests } = await proxy(() => false);
    const tracker = createClient({ url, key: workspace.key }).tracker();
    await Promise.all(
      Array.from({ length: 230 }, (_, index) => tracker.event(opened(`u${index}`))),
    );
    assert.deepEqual(
      requests.map(({ body }) => body.events.length),
      [50, 50, 50, 50, 30],
    );
    await tracker.close();
    await assert.rejects(tracker.event(opened("late")), { code: "TRACKER_CLOSED" });
  });

  test("closes a batch before it is larger than its bytes", async () => {
    const { workspace } = await connect();
    const { url, requests } = await proxy(() => false);
    const tracker = createClient({ url, key: workspace.key }).tracker({ maxBytes: 1_000 });
    const properties = { text: "x".repeat(300) };
    const events = ["a", "b", "c", "d", "e"].map((name) => ({ ...opened(name), properties }));
    await Promise.all(events.map((event) => tracker.event(event)));
    assert.deepEqual(
      requests.map(({ body }) => body.events.length),
      [2, 2, 1],
    );
  });

  test("splits a batch where the workspace accepts fewer items, and remembers that", async () => {
    const { workspace } = await connect({ track_max_updates: 10 });
    const { url, requests } = await proxy(() => false);
    const tracker = createClient({ url, key: workspace.key }).tracker();
    const send = (from: number) =>
      Promise.all(
        Array.from({ length: 40 }, (_, index) => tracker.event(opened(`u${from + index}`))),
      );
    await send(0);
    const before = requests.length;
    await send(100);
    assert.ok(requests.slice(before).every(({ body }) => body.events.length <= 10));
    const users = await workspace.profiles({ external_ids: ["u0", "u39", "u100", "u139"] });
    assert.equal(users.length, 4);
  });

  test("the tracker applies the items of one user in the order they were added", async () => {
    const { rapport, workspace } = await connect();
    const tracker = rapport.tracker();
    const last = Array.from({ length: 30 }, (_, index) => {
      void tracker.attributes({ external_id: "ada", step: index });
      void tracker.event(opened("ada", `event-${index}`));
      return tracker.attributes({ external_id: "ada", seen: `event-${index}` });
    });
    await Promise.all(last);
    await tracker.flush();
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(ada.custom_attributes, { step: 29, seen: "event-29" });
    assert.equal(ada.custom_events.length, 30);
  });

  test("the tracker rejects every caller of a batch when the whole request fails", async () => {
    const { workspace } = await connect();
    const { url } = await proxy((_request, response) => {
      response
        .writeHead(401, { "content-type": "application/json" })
        .end('{"message":"Invalid API key"}');
      return true;
    });
    const tracker = createClient({ url, key: workspace.key }).tracker();
    const verdicts = await Promise.allSettled([
      tracker.event(opened("a")),
      tracker.event(opened("b")),
    ]);
    for (const verdict of verdicts) {
      assert.ok(verdict.status === "rejected" && verdict.reason instanceof RapportError);
      assert.equal(verdict.reason.status, 401);
    }
  });

  test("the tracker refuses items once its queue is full", async () => {
    const { rapport } = await connect();
    const tracker = rapport.tracker({ maxQueued: 1 });
    const first = tracker.event(opened("a"));
    await assert.rejects(tracker.event(opened("b")), { code: "TRACKER_FULL" });
    assert.deepEqual(await first, { outcome: "recorded" });
  });
});

describe("the operations of the client", () => {
  test("the client has every call of both documents but those of browsers, each by its name", () => {
    const documents = DOCUMENT_FILES.map((file) =>
      JSON.parse(readFileSync(join(packageRoot(), file), "utf8")),
    );
    const names = documents
      .flatMap(({ paths }) => Object.values<object>(paths).flatMap(Object.values))
      .filter((operation) => !operation["x-not-in-client"])
      .map(({ operationId }) => operationId);
    assert.deepEqual(Object.keys(OPERATIONS).sort(), names.sort());
    for (const name of ["trackUsers", "putWebhook", "listDashboardUsers"])
      assert.ok(names.includes(name), name);
  });
});
