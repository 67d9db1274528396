/* Event objects of a track request: what they require, what is refused, what is stored. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAbout } from "../../about-time.ts";
import { lastingDatabase } from "../../databases.ts";
import { startOwnServer, startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { rowsAfterStop } from "../../stored-rows.ts";

const server = await startServer();
/** For rows that only get a verdict. */
const workspace = await server.workspace();

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

const send = (workspace: TestWorkspace, ...events: unknown[]) => workspace.track({ events });

const eventsOf = async (workspace: TestWorkspace) =>
  (await workspace.profile({ external_ids: ["ada"] })).custom_events;

/** Sends one event and returns the code that it is refused with, or undefined. */
async function verdictOn(workspace: TestWorkspace, event: object): Promise<string | undefined> {
  const answer = await send(workspace, { ...EVENT, ...event });
  const [error] = answer.body.errors ?? [];
  assert.equal(answer.status, error ? 400 : 201);
  return error?.code;
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60);

describe("an event", () => {
  test("an event records one occurrence of an undeclared name by one user at one time", async () => {
    const workspace = await server.workspace();
    const names = ["opened", "Opened", "ein Ereignis \u{1f600}", "x".repeat(255)];
    const answer = await send(workspace, ...names.map((name) => ({ ...EVENT, name })));
    assert.deepEqual(answer.body, { events_processed: 4, message: "success" });
    const at = "2026-01-01T12:00:00.000Z";
    const expected = names.map((name) => ({ name, first: at, last: at, count: 1 }));
    const byName = (one: { name: string }, two: { name: string }) => (one.name < two.name ? -1 : 1);
    assert.deepEqual((await eventsOf(workspace)).sort(byName), expected.sort(byName));
  });

  test("identical events are counted separately, within a request and across requests", async () => {
    const workspace = await server.workspace();
    await send(workspace, EVENT, EVENT, EVENT);
    await Promise.all([send(workspace, EVENT), send(workspace, EVENT)]);
    assert.equal((await eventsOf(workspace))[0].count, 5);
  });

  test("first and last hold the earliest and latest time of an event that arrives in any order", async () => {
    const workspace = await server.workspace();
    const at = (time: string) => ({ ...EVENT, time });
    await send(workspace, at("2026-01-02T00:00:00Z"));
    await send(workspace, at("2026-01-03T00:00:00.001Z"), at("2025-12-31T23:59:59.999Z"));
    await send(workspace, at("2026-01-01T00:00:00Z"));
    assert.deepEqual(await eventsOf(workspace), [
      {
        name: "opened",
        first: "2025-12-31T23:59:59.999Z",
        last: "2026-01-03T00:00:00.001Z",
        count: 4,
      },
    ]);
  });
});

describe("the fields of an event", () => {
  const bad: [field: string, values: unknown[], code: string][] = [
    ["name", [undefined, null, "", 5, true, {}, ["opened"], "x".repeat(256)], "INVALID_NAME"],
    ["time", [undefined, null, "", 1767268800, true, {}, ["2026-01-01"]], "INVALID_TIME"],
    [
      "time",
      [
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "2026-01-01T12:00:00:5Z",
        "01/02/2026",
        "1767268800",
        "0000-06-01T00:00:00Z",
        "12026-01-01T00:00:00Z",
      ],
      "INVALID_TIME",
    ],
    ["app_id", [5, true, {}, ["x"], "x".repeat(256)], "INVALID_APP_ID"],
    ["properties", ["text", 5, true, [[]], [{}]], "INVALID_PROPERTIES"],
    ["_update_existing_only", ["false", 0, {}, []], "INVALID_FLAG"],
  ];
  for (const [field, values, code] of bad) {
    for (const value of values) {
      test(`an event with ${field} ${shown(value)} is refused with the name of the field`, async () => {
        const answer = await send(workspace, { ...EVENT, [field]: value });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.errors?.[0]?.code, code);
        assert.match(answer.body.errors?.[0]?.message ?? "", new RegExp(`'${field}'`));
      });
    }
  }

  test("app_id, properties and _update_existing_only are optional in an event", async () => {
    const workspace = await server.workspace();
    const optional = { app_id: WEB_APP, properties: { a: 1 }, _update_existing_only: false };
    await send(workspace, EVENT);
    for (const [name, value] of Object.entries(optional)) {
      assert.equal(await verdictOn(workspace, { [name]: value }), undefined);
      assert.equal(await verdictOn(workspace, { [name]: null }), undefined);
    }
    assert.equal((await eventsOf(workspace))[0].count, 7);
  });
});

describe("the time of an event", () => {
  const forms: [time: string, instant: string][] = [
    ["2020-01-24T11:59:02Z", "2020-01-24T11:59:02.000Z"],
    ["2020-01-24T11:59:02.402+05:30", "2020-01-24T06:29:02.402Z"],
    ["2020-01-24T11:59:02.402-0800", "2020-01-24T19:59:02.402Z"],
    ["2020-01-24", "2020-01-24T00:00:00.000Z"],
    ["2020-01-24 11:59:02 +0000", "2020-01-24T11:59:02.000Z"],
    ["2020-01-24 11:59:02 -0500", "2020-01-24T16:59:02.000Z"],
    ["2020-01-24 11:59:02 UTC", "2020-01-24T11:59:02.000Z"],
    ["2020-W04-5T11Z", "2020-01-24T11:00:00.000Z"],
    ["2020-024T11:59:60Z", "2020-01-24T12:00:00.000Z"],
    ["2020-01-24T11:59:02", "2020-01-24T11:59:02.000Z"],
    ["20200124T115902Z", "2020-01-24T11:59:02.000Z"],
    ["2020-01-24T11:59:02:402Z", "2020-01-24T11:59:02.402Z"],
    ["2020-01-24T11:59:02:402+0530", "2020-01-24T06:29:02.402Z"],
    ["2020-01-24T11:59:02:402-08:00", "2020-01-24T19:59:02.402Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ];
  for (const [time, instant] of forms) {
    test(`the event time ${time} is read as ${instant}`, async () => {
      const workspace = await server.workspace();
      assert.equal(await verdictOn(workspace, { time }), undefined);
      const [event] = await eventsOf(workspace);
      assert.deepEqual([event.first, event.last], [instant, instant]);
    });
  }

  test("an event time in the future is replaced by the current time", async () => {
    const workspace = await server.workspace();
    const before = Date.now();
    for (const time of [new Date(before + 60_000).toISOString(), "9999-12-31T23:59:59Z"]) {
      await verdictOn(workspace, { time });
    }
    const [event] = await eventsOf(workspace);
    for (const time of [event.first, event.last]) assertAbout(time);
  });
});

describe("the properties of an event", () => {
  const values: object[] = [
    {},
    { text: "x", number: 1.5, yes: true, nothing: null, empty: "", long: "x".repeat(5_000) },
    { nested: { deep: { list: [1, "a", { b: [] }] } }, list: [{ sku: 1 }, { sku: 2 }] },
    { constructor: 1, "with space": 1, "with.dot": { a$: 1 } },
  ];
  const badNames = { empty: "", "of 256 characters": "n".repeat(256), "with a leading $": "$n" };
  const wrappings: Record<string, (object: object) => object> = {
    "at the top": (object) => object,
    "in an object": (object) => ({ outer: { inner: object } }),
    "in an array of objects": (object) => ({ outer: [{ fine: 1 }, { inner: [object] }] }),
  };

  for (const [where, wrap] of Object.entries(wrappings)) {
    for (const [what, name] of Object.entries(badNames)) {
      test(`an invalid event property name is refused ${where}: ${what}`, async () => {
        const properties = wrap({ [name]: 1 });
        assert.equal(await verdictOn(workspace, { properties }), "INVALID_PROPERTIES");
      });
    }
    test(`an event property name of 255 characters is accepted ${where}, whatever the characters`, async () => {
      const properties = wrap({ ["n".repeat(255)]: 1, ["\u{1f600}".repeat(255)]: 1, a$: 1 });
      assert.equal(await verdictOn(workspace, { properties }), undefined);
    });
  }

  test("the message about a refused event property name gives its path and is well-formed Unicode", async () => {
    const workspace = await server.workspace();
    const name = `${"x".repeat(280)}${"\u{1f600}".repeat(50)}`;
    const properties = { list: [{ [name]: 1 }] };
    const key = { "idempotency-key": "a name that is cut" };
    const answer = await workspace.track(
      { events: [{ ...EVENT, properties }, EVENT] },
      { headers: key },
    );
    assert.equal(answer.status, 201);
    const { message = "" } = answer.body.errors?.[0] ?? {};
    assert.match(message, /'properties\.list\[0\]\.x/);
    assert.ok(message.isWellFormed());
  });

  for (const name of ["time", "event_name", "currency", "price"]) {
    test(`'${name}' is accepted as the name of an event property`, async () => {
      assert.equal(await verdictOn(workspace, { properties: { [name]: "x" } }), undefined);
      assert.equal(await verdictOn(workspace, { properties: { a: { [name]: "x" } } }), undefined);
    });
  }

  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  /** Properties with an array or an object, of exactly this many bytes. */
  const sized = (bytes: number, rest: object, character: string) => {
    const width = Buffer.byteLength(character);
    const room = bytes - bytesOf({ ...rest, text: "" });
    const text = character.repeat(Math.floor(room / width)) + "x".repeat(room % width);
    return { ...rest, text };
  };
  for (const rest of [{ list: [1] }, { object: {} }, { empty: [] }]) {
    for (const character of ["x", "é", "\u{1f600}"]) {
      test(`event properties with ${shown(rest)} and many '${character}' may have at most 51,200 bytes`, async () => {
        const fits = sized(51_200, rest, character);
        assert.equal(bytesOf(fits), 51_200);
        assert.equal(await verdictOn(workspace, { properties: fits }), undefined);
        const tooLarge = sized(51_201, rest, character);
        assert.equal(await verdictOn(workspace, { properties: tooLarge }), "PROPERTIES_TOO_LARGE");
      });
    }
  }

  test("event properties without an array or object may be larger than 50 KB", async () => {
    const workspace = await server.workspace();
    const properties = { text: "x".repeat(60_000), nothing: null, number: 1 };
    assert.equal(await verdictOn(workspace, { properties }), undefined);
  });

  test("event properties do not become part of the profile", async () => {
    const workspace = await server.workspace();
    await send(workspace, { ...EVENT, properties: { first_name: "Eve", plan: "pro" } });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual([ada.first_name, ada.custom_attributes], [null, {}]);
    assert.deepEqual(Object.keys(ada.custom_events[0]), ["name", "first", "last", "count"]);
  });

  test("event properties are stored as they were sent, and identical events get distinct ids", async () => {
    const lasting = await lastingDatabase();
    const kept = await startOwnServer({}, undefined, lasting);
    const workspace = await kept.workspace();
    // PHP writes an empty map as an empty list.
    await send(workspace, ...[...values, []].map((properties) => ({ ...EVENT, properties })));
    await send(workspace, { ...EVENT, app_id: WEB_APP }, { ...EVENT, app_id: WEB_APP });
    const rows = await rowsAfterStop<Record<string, any>>(
      kept,
      lasting,
      "select event_id, name, occurred_at, app_id, properties from events order by event_id",
    );
    assert.deepEqual(
      rows.map((row) => row.properties),
      [...values, {}, null, null],
    );
    assert.deepEqual(
      rows.slice(-2).map(({ name, occurred_at, app_id }) => [name, occurred_at, app_id]),
      Array(2).fill(["opened", new Date(EVENT.time), WEB_APP]),
    );
    assert.equal(new Set(rows.map((row) => row.event_id)).size, rows.length);
  });
});
