/* `followChanges` of the package rapport-client, against a real server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import {
  type Change,
  ChangesGone,
  createClient,
  type FollowOptions,
  followChanges,
  RapportError,
} from "../../../client/src/client.ts";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { CHANGE_TYPES } from "../../../src/core/people/changes/change.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer, startServer, type TestWorkspace, testConfig } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startChild } from "../child-server.ts";
import { failingProxy } from "../failing-proxy.ts";

const server = await startServer();

const FAST = { firstPauseMs: 1, longestPauseMs: 5 };

const withFeed = () => server.workspace({ settings: { change_feed: true } });

const clientOf = ({ key }: TestWorkspace, url = server.url) => createClient({ url, key, ...FAST });

const setStep = (workspace: TestWorkspace, external_id: string, step: number) =>
  workspace.track({ attributes: [{ external_id, step }] });

const opened = (name: string) => ({ external_id: "ada", name, time: "2026-01-01T12:00:00Z" });

/** The effects of `setStep`, as the feed reports them. */
const stepOf = (change: Change): [string | undefined, unknown] => {
  assert.ok(change.type === "user.created" || change.type === "user.updated", change.type);
  return [change.user.external_id, change.values["custom_attributes.step"]];
};

/** The changes up to the end of the feed. */
async function readToEnd(workspace: TestWorkspace, options: FollowOptions): Promise<Change[]> {
  const all: Change[] = [];
  for await (const { changes, caught_up } of followChanges(clientOf(workspace), options)) {
    all.push(...changes);
    if (caught_up) break;
  }
  return all;
}

test("a reader that crashes anywhere and restarts at its stored cursor sees every change, those of each user in their order", async () => {
  const workspace = await withFeed();
  const users = ["ada", "bob", "eve", "joe", "kim"];
  const steps = sized(30, 200);
  const written = Promise.all(
    users.map(async (user) => {
      for (let step = 1; step <= steps; step++) await setStep(workspace, user, step);
    }),
  );
  const seen = new Map<string, Change>();
  let stored = "beginning";
  let crashes = 0;
  let pages = 0;
  while (seen.size < users.length * steps) {
    const reader = followChanges(clientOf(workspace), { cursor: stored, limit: 7, wait_s: 1 });
    for await (const { changes, cursor } of reader) {
      pages++;
      // Before anything of the page is processed, in the middle of it, and before its cursor is stored.
      const crashesAfter = pages % 3 === 0 ? pages % (changes.length + 1) : undefined;
      for (const change of changes.slice(0, crashesAfter)) seen.set(change.id, change);
      if (crashesAfter !== undefined) {
        crashes++;
        break;
      }
      stored = cursor;
      if (seen.size === users.length * steps) break;
    }
  }
  await written;
  assert.ok(crashes > 5, `${crashes}`);
  const inOrder = Array.from({ length: steps }, (_, index) => index + 1);
  const read = [...seen.values()].map(stepOf);
  for (const user of users) {
    assert.deepEqual(
      read.filter(([name]) => name === user).map(([, step]) => step),
      inOrder,
    );
  }
  // After a crash in the last page it is read again.
  const rest = await readToEnd(workspace, { cursor: stored });
  assert.deepEqual(
    rest.filter(({ id }) => !seen.has(id)),
    [],
  );
});

test("without a cursor a reader gets at once a page without changes and the cursor from which it misses none", async () => {
  const workspace = await withFeed();
  await setStep(workspace, "ada", 1);
  const reader = followChanges(clientOf(workspace));
  const { value: first } = await reader.next();
  assert.ok(first);
  assert.deepEqual([first.changes, first.caught_up], [[], true]);
  await setStep(workspace, "ada", 2);
  const { value: second } = await reader.next();
  assert.deepEqual(second?.changes.map(stepOf), [["ada", 2]]);
  await reader.return();
  const again = await readToEnd(workspace, { cursor: first.cursor });
  assert.deepEqual(again, second?.changes);
});

test("a reader that waits gets a change when it is made, and the loop ends when its signal is aborted", async () => {
  const workspace = await withFeed();
  const stop = new AbortController();
  const options = { cursor: "beginning", wait_s: 60, signal: stop.signal };
  const steps: unknown[] = [];
  for await (const { changes } of followChanges(clientOf(workspace), options)) {
    steps.push(...changes.map((change) => stepOf(change)[1]));
    if (steps.length < 3) await setStep(workspace, "ada", steps.length + 1);
    // Ends the request that waits for what does not come.
    else setImmediate(() => stop.abort());
  }
  assert.deepEqual(steps, [1, 2, 3]);
});

test("an abort while a page is processed leaves the page, and ends the loop without a further request", async () => {
  const workspace = await withFeed();
  await setStep(workspace, "ada", 1);
  const { url, requests } = await failingProxy(server.url, () => false);
  const stop = new AbortController();
  const options = { cursor: "beginning", signal: stop.signal };
  const steps: unknown[] = [];
  for await (const { changes } of followChanges(clientOf(workspace, url), options)) {
    stop.abort();
    steps.push(...changes.map((change) => stepOf(change)[1]));
  }
  assert.deepEqual(steps, [1]);
  assert.equal(requests.length, 1);
  for await (const _ of followChanges(clientOf(workspace, url), options)) assert.fail();
  assert.equal(requests.length, 1);
});

test("a reader whose changes have been deleted gets an error with the oldest cursor, and continues from there", async () => {
  const workspace = await withFeed();
  await setStep(workspace, "ada", 1);
  const { cursor } = await clientOf(workspace).getChanges();
  const path = `/admin/v1/workspaces/${workspace.name}/settings`;
  const { settings } = (await server.admin("GET", path)).body;
  for (const change_feed of [false, true]) {
    await server.admin("PUT", path, { ...(settings as object), change_feed });
  }
  await setStep(workspace, "ada", 2);
  let oldest = "";
  await assert.rejects(followChanges(clientOf(workspace), { cursor }).next(), (error) => {
    assert.ok(error instanceof ChangesGone && error instanceof RapportError);
    assert.deepEqual([error.name, error.status], ["ChangesGone", 410]);
    assert.match(error.message, /not kept any more/);
    assert.ok(error.requestId);
    ({ oldest } = error);
    return true;
  });
  assert.deepEqual((await readToEnd(workspace, { cursor: oldest })).map(stepOf), [["ada", 2]]);
});

test("lost connections, 503 and pages that break off are repeated, and the reader loses and repeats nothing", async () => {
  const workspace = await withFeed();
  for (let step = 1; step <= 20; step++) await setStep(workspace, "ada", step);
  const { url, requests } = await failingProxy(server.url, (request, response, count) => {
    switch (count % 4) {
      case 0:
        return false;
      case 1:
        request.socket.destroy();
        return true;
      case 2:
        response.writeHead(503, { "content-type": "application/json" }).end('{"message":"Busy."}');
        return true;
      default:
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"changes":[{"id":"', () => response.destroy());
        return true;
    }
  });
  const steps: unknown[] = [];
  const reader = followChanges(clientOf(workspace, url), { cursor: "beginning", limit: 4 });
  for await (const { changes, caught_up } of reader) {
    steps.push(...changes.map((change) => stepOf(change)[1]));
    if (caught_up) break;
  }
  assert.deepEqual(
    steps,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  assert.ok(requests.length >= 20);
});

test("a reader fails with the last refusal once its retries are used up, and at once where repeating is of no use", async () => {
  const workspace = await withFeed();
  const { url, requests } = await failingProxy(server.url, (_request, response) => {
    response.writeHead(503, { "content-type": "application/json" }).end('{"message":"Busy."}');
    return true;
  });
  const busy = { name: "RapportError", status: 503, message: "Busy." };
  await assert.rejects(followChanges(clientOf(workspace, url), { retries: 6 }).next(), busy);
  assert.equal(requests.length, 7);
  const off = await server.workspace();
  const noFeed = { name: "RapportError", status: 404 };
  await assert.rejects(followChanges(clientOf(off)).next(), noFeed);
  const noCursor = followChanges(clientOf(workspace), { cursor: "neither this nor that" });
  await assert.rejects(noCursor.next(), { name: "RapportError", status: 400 });
});

test("a reader with an empty cursor, which would miss changes, without types or without waiting is refused", async () => {
  const rapport = clientOf(await withFeed());
  for (const option of [{ cursor: "" }, { types: [] }, { wait_s: 0 }, { wait_s: Number.NaN }]) {
    await assert.rejects(followChanges(rapport, option).next(), { name: "RangeError" });
  }
});

test("a reader of some types or of one user gets those, and a cursor behind the others", async () => {
  const workspace = await withFeed();
  await setStep(workspace, "ada", 1);
  await setStep(workspace, "bob", 1);
  await setStep(workspace, "ada", 2);
  const updated = await readToEnd(workspace, { cursor: "beginning", types: ["user.updated"] });
  assert.deepEqual(updated.map(stepOf), [["ada", 2]]);
  const user = updated[0]?.type === "user.updated" ? updated[0].user.platform_id : "";
  const ofAda = await readToEnd(workspace, { cursor: "beginning", user });
  assert.deepEqual(ofAda.map(stepOf), [
    ["ada", 1],
    ["ada", 2],
  ]);
  const options = { cursor: "beginning", types: ["user.deleted", "user.merged"] } as const;
  const reader = followChanges(clientOf(workspace), options);
  const { value: page } = await reader.next();
  await reader.return();
  assert.deepEqual([page?.changes, page?.caught_up], [[], true]);
  assert.deepEqual(await readToEnd(workspace, { cursor: page?.cursor ?? "" }), []);
});

test("a server that stops answers the readers that wait, and does not wait for them", async () => {
  const stopping = await startOwnServer();
  const { key } = await stopping.workspace({ settings: { change_feed: true } });
  const rapport = createClient({ url: stopping.url, key });
  const { cursor } = await rapport.getChanges();
  // The deadline is half of the reader's.
  const signal = AbortSignal.timeout(30_000);
  const waiting = rapport.getChanges({ query: { cursor, wait_s: 60 } }, { signal });
  await setTimeout(200);
  const [page] = await Promise.all([waiting, stopping.stop()]);
  assert.deepEqual(page, { changes: [], cursor, caught_up: true });
  // A server that spins until the reader's time is over lets no timer fire before.
  await setTimeout(1);
  assert.equal(signal.aborted, false);
});

/** Does not compile unless it has every type. */
function subjectOf(change: Change): string {
  switch (change.type) {
    case "user.created":
    case "user.updated":
      return change.changed.join();
    case "user.identified":
      return change.previous.external_id ?? change.previous.user_aliases[0]?.alias_name ?? "";
    case "user.merged":
    case "user.unmerged":
      return change.merged.platform_id;
    case "user.deleted":
      return change.user.platform_id;
    case "event.logged":
      return change.name;
    case "purchase.logged":
      return change.product_id;
    case "subscription.changed":
      return change.subscription_group_id;
    case "email_state.changed":
      return change.user?.external_id ?? change.email;
    case "sync.finished":
      return change.integration_id;
    case "export.finished":
      return change.object_prefix;
    default:
      return change satisfies never;
  }
}

test("the client has the types of changes that the documentation lists and the server writes", async () => {
  const documentation = readFileSync(join(packageRoot(), "docs", "changes.md"), "utf8");
  const rows = documentation.matchAll(/^\| (`[a-z_]+\.[a-z_]+`(?:, `[a-z_]+\.[a-z_]+`)*) \|/gm);
  const documented = [...rows].flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));
  const { components } = JSON.parse(readFileSync(join(packageRoot(), "openapi.json"), "utf8"));
  const typed = components.schemas.Change.anyOf.flatMap(({ properties }: any) => [
    ...properties.type.enum,
  ]);
  assert.deepEqual(documented, [...CHANGE_TYPES]);
  assert.deepEqual(typed, [...CHANGE_TYPES]);
  const workspace = await withFeed();
  await workspace.track({ events: [opened("opened")] });
  const changes = await readToEnd(workspace, { cursor: "beginning" });
  assert.deepEqual(changes.map(subjectOf), ["created_at", "opened"]);
});

test("a reader goes on when the server is stopped, killed and started again, and sees every change once in its order", async () => {
  const { databaseUrl } = await testConfig();
  const place = {
    DATA_DIR: await temporaryFolder(),
    ADMIN_TOKEN: "the-admin-token-of-this-test",
    PORT: `${await freePort()}`,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  let child = await startChild(place);
  const { url, key } = child;
  const rapport = createClient({ url, key, adminToken: place.ADMIN_TOKEN });
  const path = { name: "demo" };
  const { settings } = await rapport.admin.getSettings({ path });
  await rapport.admin.putSettings({ path, body: { ...settings, change_feed: true } });
  const { cursor } = await rapport.getChanges();
  const ends = ["SIGTERM", "SIGKILL"] as const;
  let step = 0;
  const write = () => rapport.trackUsers({ body: { events: [opened(`${++step}`)] } });
  await write();
  const restart = async (signal: (typeof ends)[number]) => {
    await setTimeout(200);
    await child.end(signal);
    child = await startChild(place);
    await write();
  };
  const read: string[] = [];
  const pages = followChanges(rapport, { cursor, wait_s: 60, types: ["event.logged"] });
  for await (const { changes } of pages) {
    for (const change of changes) if (change.type === "event.logged") read.push(change.name);
    // A server that stops sends a page without changes.
    if (changes.length === 0) continue;
    const signal = ends[step - 1];
    if (signal === undefined) break;
    // The reader waits for the next change meanwhile.
    void restart(signal);
  }
  assert.deepEqual(read, ["1", "2", "3"]);
  await child.end("SIGTERM");
});
