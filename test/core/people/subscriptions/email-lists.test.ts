/* GET /email/unsubscribes and /email/hard_bounces, POST /email/blocklist and /email/bounce/remove. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { emailStateOf, emailStatus, users } from "./subscription-calls.ts";

const server = await startServer();

type List = "/email/unsubscribes" | "/email/hard_bounces";

const ANN = "ann@example.com";
const BOB = "bob@example.com";
const DAY_MS = 86_400_000;

const day = (fromToday: number): string =>
  new Date(Date.now() + fromToday * DAY_MS).toISOString().slice(0, 10);

const PERIOD = { start_date: day(-1), end_date: day(2) };

async function list(workspace: TestWorkspace, path: List, query: object = PERIOD) {
  const parameters = new URLSearchParams(query as Record<string, string>);
  return workspace.call<any>("GET", `${path}?${parameters}`);
}

async function listed(workspace: TestWorkspace, path: List, query?: object): Promise<string[]> {
  const { status, body } = await list(workspace, path, query);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.message, "success");
  return body.emails.map((entry: { email: string }) => entry.email);
}

const block = (workspace: TestWorkspace, email: unknown, path = "/email/blocklist") =>
  workspace.call<any>("POST", path, { email });

const removeBounce = (workspace: TestWorkspace, email: unknown) =>
  workspace.call<any>("POST", "/email/bounce/remove", { email });

/** Unsubscribes addresses one after the other, at different times. */
async function unsubscribe(workspace: TestWorkspace, ...emails: string[]): Promise<void> {
  for (const email of emails) {
    await emailStatus(workspace, email, "unsubscribed");
    await wait(3);
  }
}

describe("GET /email/unsubscribes", () => {
  test("the list of unsubscribes starts with the latest one and shows its time in UTC", async () => {
    const workspace = await server.workspace();
    await unsubscribe(workspace, ANN, BOB);
    await emailStatus(workspace, "eve@example.com", "opted_in");
    const { body } = await list(workspace, "/email/unsubscribes");
    assert.deepEqual(
      body.emails.map((entry: any) => entry.email),
      [BOB, ANN],
    );
    assert.match(body.emails[0].unsubscribed_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000$/);
  });

  test("the list of unsubscribes can be sorted in either direction and read page by page", async () => {
    const workspace = await server.workspace();
    await unsubscribe(workspace, ANN, BOB);
    const read = (more: object) => listed(workspace, "/email/unsubscribes", { ...PERIOD, ...more });
    assert.deepEqual(await read({ sort_direction: "asc" }), [ANN, BOB]);
    assert.deepEqual(await read({ limit: 1 }), [BOB]);
    assert.deepEqual(await read({ limit: 1, offset: 1 }), [ANN]);
    assert.deepEqual(await read({ offset: 2 }), []);
  });

  test("the period of the list of unsubscribes includes its first day and excludes its last", async () => {
    const workspace = await server.workspace();
    await unsubscribe(workspace, ANN);
    const read = (start_date: string, end_date: string) =>
      listed(workspace, "/email/unsubscribes", { start_date, end_date });
    assert.deepEqual(await read(day(0), day(2)), [ANN]);
    assert.deepEqual(await read(day(-1), day(0)), []);
    assert.deepEqual(await read(day(1), day(2)), []);
  });

  test("the lists say which period they cover, so that a range that ends today shows that today is not in it", async () => {
    const workspace = await server.workspace();
    for (const path of ["/email/unsubscribes", "/email/hard_bounces"] as const) {
      const period = { start_date: day(-1), end_date: day(0) };
      const midnight = (of: string) => `${of}T00:00:00.000Z`;
      assert.deepEqual((await list(workspace, path, period)).body.period, {
        from: midnight(day(-1)),
        until: midnight(day(0)),
      });
      assert.equal((await list(workspace, path, { email: ANN })).body.period, undefined);
    }
  });

  test("the email filter of the list of unsubscribes overrides the period and ignores case", async () => {
    const workspace = await server.workspace();
    await unsubscribe(workspace, ANN, BOB);
    const asked = { start_date: day(5), end_date: day(6), email: "ANN@example.com" };
    assert.deepEqual(await listed(workspace, "/email/unsubscribes", asked), [ANN]);
  });

  test("an address that subscribes again leaves the list of unsubscribes", async () => {
    const workspace = await server.workspace();
    await unsubscribe(workspace, ANN);
    await emailStatus(workspace, ANN, "subscribed");
    assert.deepEqual(await listed(workspace, "/email/unsubscribes"), []);
  });
});

describe("hard bounces", () => {
  for (const path of ["/email/blocklist", "/email/blacklist"]) {
    test(`${path} unsubscribes addresses and lists them as hard bounces`, async () => {
      const workspace = await server.workspace();
      await users(workspace, { external_id: "ann", email: ANN });
      assert.equal((await block(workspace, [ANN, "Bob@Example.com"], path)).status, 201);
      assert.equal(await emailStateOf(workspace, "ann"), "unsubscribed");
      assert.deepEqual((await listed(workspace, "/email/hard_bounces")).sort(), [ANN, BOB]);
      assert.deepEqual((await listed(workspace, "/email/unsubscribes")).sort(), [ANN, BOB]);
      const { body } = await list(workspace, "/email/hard_bounces", { email: ANN });
      assert.match(body.emails[0].hard_bounced_at, / \+0000$/);
    });
  }

  test("removing a hard bounce leaves the email address unsubscribed", async () => {
    const workspace = await server.workspace();
    await block(workspace, [ANN, BOB]);
    assert.deepEqual((await removeBounce(workspace, ANN.toUpperCase())).body, {
      message: "success",
    });
    assert.deepEqual(await listed(workspace, "/email/hard_bounces"), [BOB]);
    assert.equal((await listed(workspace, "/email/unsubscribes")).includes(ANN), true);
    assert.equal((await removeBounce(workspace, ANN)).status, 201);
  });

  test("an address that is blocked again keeps the time of its first bounce", async () => {
    const workspace = await server.workspace();
    await block(workspace, ANN);
    await wait(3);
    await block(workspace, BOB);
    await block(workspace, ANN);
    assert.deepEqual(await listed(workspace, "/email/hard_bounces"), [BOB, ANN]);
  });

  test("erasing the state of an email address erases its hard bounce", async () => {
    const workspace = await server.workspace();
    await block(workspace, ANN);
    const path = `/admin/v1/workspaces/${workspace.name}/email-states/${ANN}`;
    const { body } = await server.admin("DELETE", path);
    assert.equal(body.erased, true);
    assert.deepEqual(await listed(workspace, "/email/hard_bounces"), []);
    assert.deepEqual(await listed(workspace, "/email/unsubscribes"), []);
  });

  test("a workspace can neither see the bounces and unsubscribes of another nor remove its bounces", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    await block(one, ANN);
    for (const path of ["/email/hard_bounces", "/email/unsubscribes"] as const) {
      assert.deepEqual(await listed(other, path), []);
      assert.deepEqual(await listed(other, path, { email: ANN }), []);
    }
    await removeBounce(other, ANN);
    assert.deepEqual(await listed(one, "/email/hard_bounces"), [ANN]);
  });
});

describe("a request to the email list endpoints", () => {
  test("a date-time in an email list query counts as its day", async () => {
    const workspace = await server.workspace();
    const query = { start_date: `${day(0)}T10:00:00+00:00`, end_date: `${day(1)} 10:00:00 +0000` };
    for (const path of ["/email/hard_bounces", "/email/unsubscribes"] as const) {
      assert.equal((await list(workspace, path, query)).status, 200, path);
    }
  });

  const QUERIES: [query: object, message: RegExp][] = [
    [{}, /'email', or 'start_date' and 'end_date', is required/],
    [{ start_date: day(0) }, /'start_date' and 'end_date', is required/],
    [{ start_date: "2026-02-30", end_date: day(0) }, /'start_date' is not valid/],
    [{ start_date: day(0), end_date: "soon" }, /'end_date' is not valid/],
    [{ start_date: day(0), end_date: day(0) }, /'start_date' must be before 'end_date'/],
    [{ email: "nobody" }, /'email' is not valid/],
    [{ ...PERIOD, limit: 501 }, /'limit'/],
    [{ ...PERIOD, limit: 0 }, /'limit'/],
    [{ ...PERIOD, offset: -1 }, /'offset'/],
  ];
  for (const [query, message] of QUERIES) {
    test(`an invalid email list query is refused: ${JSON.stringify(query).replaceAll(/20\d\d-[\d-]+/g, "…")} ${message}`, async () => {
      const workspace = await server.workspace();
      for (const path of ["/email/hard_bounces", "/email/unsubscribes"] as const) {
        const { status, body } = await list(workspace, path, query);
        assert.equal(status, 400, path);
        assert.match(body.message, message);
      }
    });
  }

  test("a blocklist or bounce removal request with an invalid address is refused and names each invalid one", async () => {
    const workspace = await server.workspace();
    for (const send of [block, removeBounce]) {
      const { status, body } = await send(workspace, [ANN, "nobody", BOB, ""]);
      assert.equal(status, 400);
      assert.deepEqual(
        body.errors.map((error: any) => error.index),
        [1, 3],
      );
      const tooMany = Array.from({ length: 51 }, (_, index) => `u${index}@example.com`);
      assert.equal((await send(workspace, tooMany)).status, 400);
      assert.equal((await send(workspace, [])).status, 400);
      assert.equal((await send(workspace, null)).status, 400);
    }
    assert.deepEqual(await listed(workspace, "/email/unsubscribes"), []);
  });
});
