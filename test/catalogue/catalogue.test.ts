/* The catalogue of a workspace: events, custom attributes and products (docs/segments.md). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { systemClock } from "../../src/core/base/clock.ts";
import { createCatalogue } from "../../src/features/catalogue/catalogue.ts";
import { type Answer, startServer, type TestWorkspace } from "../harness.ts";

const server = await startServer();

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

const catalogueOf = async (workspace: TestWorkspace, query: string) => {
  const path = `/admin/v1/workspaces/${workspace.name}/catalogue?${query}`;
  const { status, body }: Answer<any> = await server.admin("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const ada = { external_id: "ada" };

async function track(workspace: TestWorkspace, body: object): Promise<void> {
  const { status, body: answer } = await workspace.track(body as never);
  assert.equal(status, 201, JSON.stringify(answer));
}

describe("the catalogue", () => {
  test("every event has how often it was sent, when first and last, and its last 30 days", async () => {
    const workspace = await server.workspace();
    const times = [daysAgo(100), daysAgo(2), daysAgo(2), daysAgo(0)];
    const events = times.map((time) => ({ ...ada, name: "opened", time }));
    await track(workspace, { events: [...events, { ...ada, name: "closed", time: daysAgo(1) }] });

    const { entries } = await catalogueOf(workspace, "kind=event");
    assert.deepEqual(
      entries.map(({ name, seen }: any) => [name, seen]),
      [
        ["closed", 1],
        ["opened", 4],
      ],
    );
    const [, opened] = entries;
    assert.deepEqual([opened.first_seen, opened.last_seen], [times[0], times[3]]);
    assert.deepEqual(opened.days, [...new Array(27).fill(0), 2, 0, 1]);
    assert.deepEqual(opened.types, []);
  });

  test("every attribute has the types that were sent, the most frequent first", async () => {
    const workspace = await server.workspace();
    const values = ["pro", "free", 5, true, "2026-01-31", ["a"], [{ a: 1 }], { a: 1 }, "12-pack"];
    for (const plan of values) await track(workspace, { attributes: [{ ...ada, plan }] });
    await track(workspace, { attributes: [{ ...ada, plan: null }] });

    const { entries } = await catalogueOf(workspace, "kind=attribute");
    const [{ name, seen, types, days }] = entries;
    assert.deepEqual([entries.length, name, seen, days[29]], [1, "plan", 9, 9]);
    assert.deepEqual(types, [
      { type: "string", seen: 3 },
      { type: "array", seen: 1 },
      { type: "boolean", seen: 1 },
      { type: "number", seen: 1 },
      { type: "object", seen: 1 },
      { type: "object_array", seen: 1 },
      { type: "time", seen: 1 },
    ]);
  });

  test("products are counted, and items that were refused are not", async () => {
    const workspace = await server.workspace();
    const bought = { ...ada, currency: "EUR", price: 1, time: daysAgo(0) };
    const { body } = await workspace.track({
      purchases: [
        { ...bought, product_id: "shoes" },
        { ...bought, product_id: "hat", currency: "nothing" },
      ],
    } as never);
    assert.equal((body as any).errors.length, 1);
    const { entries } = await catalogueOf(workspace, "kind=product");
    assert.deepEqual(
      entries.map(({ name, seen }: any) => [name, seen]),
      [["shoes", 1]],
    );
  });

  test("names are found by a part in any case, page by page", async () => {
    const workspace = await server.workspace();
    const names = ["Order placed", "order sent", "opened"];
    await track(workspace, {
      events: names.map((name) => ({ ...ada, name, time: daysAgo(0) })),
    });
    const first = await catalogueOf(workspace, "kind=event&search=ORDER&limit=1");
    assert.equal(first.entries[0].name, "Order placed");
    const query = `kind=event&search=ORDER&limit=1&cursor=${first.next_cursor}`;
    const second = await catalogueOf(workspace, query);
    assert.equal(second.entries[0].name, "order sent");
    assert.equal(second.next_cursor, undefined);
    const path = `/admin/v1/workspaces/${workspace.name}/catalogue`;
    assert.equal((await server.admin("GET", `${path}?kind=event&cursor=%00`)).status, 400);
    assert.equal((await server.admin("GET", `${path}?kind=user`)).status, 400);
  });

  test("a reset empties it, including counts that are not written yet", async () => {
    const workspace = await server.workspace();
    await track(workspace, { events: [{ ...ada, name: "opened", time: daysAgo(0) }] });
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.deepEqual((await catalogueOf(workspace, "kind=event")).entries, []);
  });

  for (const how of ["are being written", "then fail to be written", "were written beside it"]) {
    test(`a reset empties it of counts that ${how}`, async () => {
      const fails = how === "then fail to be written";
      const workspace = await server.workspace();
      const [row] = await server.database.query<{ id: number }>(
        "select workspace_id as id from workspaces where name = $1",
        [workspace.name],
      );
      const id = row?.id ?? 0;
      let goOn = (): void => {};
      const wasReset = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      let isHeld = true;
      const held = new Proxy(server.database, {
        get(target, name) {
          if (name !== "transaction" || !isHeld) return Reflect.get(target, name);
          isHeld = false;
          return async (...args: Parameters<typeof target.transaction>) => {
            await wasReset;
            if (fails) throw new Error("no connection");
            return target.transaction(...args);
          };
        },
      });
      const catalogue = createCatalogue(held, systemClock);
      const opened = [{ profileId: randomUUID(), work: { name: "opened", time: new Date() } }];
      const sent = { people: { created: [], updated: [] }, events: opened, purchases: [] };
      catalogue.note(id, sent);
      const writing = Promise.allSettled([catalogue.write()]);
      await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
      if (how === "were written beside it") {
        goOn();
        await writing;
      }
      catalogue.forget(id);
      goOn();
      const [written] = await writing;
      assert.equal(written.status, fails ? "rejected" : "fulfilled");
      await catalogue.write();
      assert.deepEqual((await catalogueOf(workspace, "kind=event")).entries, []);
      catalogue.note(id, sent);
      await catalogue.write();
      assert.equal((await catalogueOf(workspace, "kind=event")).entries[0].seen, 1);
    });
  }

  test("counts of several processes add up, and counts that could not be written are written later", async () => {
    const workspace = await server.workspace();
    const [row] = await server.database.query<{ id: number }>(
      "select workspace_id as id from workspaces where name = $1",
      [workspace.name],
    );
    const id = row?.id ?? 0;
    let fails = true;
    const failing = new Proxy(server.database, {
      get(target, name) {
        if (name !== "transaction" || !fails) return Reflect.get(target, name);
        return () => Promise.reject(new Error("no connection"));
      },
    });
    const sent = {
      people: { created: [], updated: [] },
      events: [{ profileId: randomUUID(), work: { name: "opened", time: new Date() } }],
      purchases: [],
    };
    const [one, other] = [failing, server.database].map((each) =>
      createCatalogue(each, systemClock),
    );
    one?.note(id, sent);
    await assert.rejects(one?.write() ?? Promise.resolve(), /no connection/);
    fails = false;
    one?.note(id, sent);
    other?.note(id, sent);
    await Promise.all([one?.write(), other?.write()]);
    const { entries } = await catalogueOf(workspace, "kind=event");
    assert.deepEqual([entries[0].seen, entries[0].days[29]], [3, 3]);
  });
});

describe("the public lists of the catalogue", () => {
  test("names of events and products are listed 250 a page, in alphabetical order", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 300 } });
    const names = Array.from({ length: 260 }, (_, index) => `n${String(index).padStart(3, "0")}`);
    await track(workspace, {
      events: [...names].reverse().map((name) => ({ ...ada, name, time: daysAgo(0) })),
      purchases: [{ ...ada, product_id: "hat", currency: "EUR", price: 1, time: daysAgo(0) }],
    });
    const pages = await Promise.all(
      [0, 1, 2].map((page) => workspace.call<any>("GET", `/events/list?page=${page}`)),
    );
    assert.deepEqual(
      pages.map(({ body }) => body.events),
      [names.slice(0, 250), names.slice(250), []],
    );
    const { body } = await workspace.call<any>("GET", "/purchases/product_list");
    assert.deepEqual(body, { products: ["hat"], message: "success" });
  });

  test("events and attributes are read 50 a page, and Link names the next and the previous page", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 300 } });
    const names = Array.from({ length: 51 }, (_, index) => `n${String(index).padStart(3, "0")}`);
    await track(workspace, {
      attributes: [{ ...ada, ...Object.fromEntries(names.map((name) => [name, ["a"]])) }],
      events: names.map((name) => ({ ...ada, name, time: daysAgo(0) })),
    });
    const always = { description: null, status: "Active", tag_names: [] };
    for (const [path, list, details] of [
      ["/events", "events", { included_in_analytics_report: false }],
      ["/custom_attributes", "attributes", { data_type: "array", array_length: 500 }],
    ] as const) {
      const first = await workspace.call<any>("GET", path);
      assert.deepEqual(first.body[list][0], { name: "n000", ...details, ...always });
      assert.equal(first.body[list].length, 50);
      const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
      const second = await workspace.call<any>("GET", next);
      assert.deepEqual(
        second.body[list].map(({ name }: any) => name),
        ["n050"],
      );
      assert.match(second.headers.get("link") ?? "", /rel="prev"/);
      assert.equal((await workspace.call("GET", `${path}?cursor=x`)).status, 400);
    }
  });
});
