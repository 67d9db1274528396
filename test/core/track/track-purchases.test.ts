/* Purchase objects of a track request: what they require, what is refused, how money is added up. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { assertAbout } from "../../about-time.ts";
import { lastingDatabase } from "../../databases.ts";
import { startOwnServer, startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { rowsAfterStop } from "../../stored-rows.ts";

const server = await startServer();
/** For rows that only get a verdict. */
const workspace = await server.workspace();

const TIME = "2026-01-01T12:00:00Z";
const PURCHASE = {
  external_id: "ada",
  product_id: "book",
  currency: "EUR",
  price: 10,
  time: TIME,
};

const send = (workspace: TestWorkspace, ...purchases: unknown[]) => workspace.track({ purchases });

const ada = (workspace: TestWorkspace) => workspace.profile({ external_ids: ["ada"] });

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60);

describe("a purchase with an invalid field is refused", () => {
  const bad: [field: string, values: unknown[], code: string][] = [
    ["product_id", [undefined, null, "", true, {}, ["a"], "x".repeat(256)], "INVALID_NAME"],
    ["currency", [undefined, null, "", 978, "XYZ", "EURO", "€", ["EUR"], {}], "INVALID_CURRENCY"],
    ["price", [undefined, null, "9.99", "", true, {}, [1]], "INVALID_PRICE"],
    ["quantity", [0, -1, 1.5, 101, "1", true, {}, [1]], "INVALID_QUANTITY"],
    ["time", [undefined, null, "", 5, "yesterday", "2026-02-30", {}], "INVALID_TIME"],
    ["app_id", [5, true, {}], "INVALID_APP_ID"],
    ["properties", ["text", 5, true, [1]], "INVALID_PROPERTIES"],
    ["_update_existing_only", ["true", 1], "INVALID_FLAG"],
  ];
  for (const [field, values, code] of bad) {
    for (const value of values) {
      test(`a purchase with ${field} ${shown(value)} is refused with the name of the field`, async () => {
        const answer = await send(workspace, { ...PURCHASE, [field]: value });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.errors?.[0]?.code, code);
        assert.match(answer.body.errors?.[0]?.message ?? "", new RegExp(`'${field}'`));
      });
    }
  }

  test("a purchase needs only an identifier, product_id, currency, price and time", async () => {
    const workspace = await server.workspace();
    const answer = await send(workspace, PURCHASE);
    assert.deepEqual(answer.body, { purchases_processed: 1, message: "success" });
  });

  test("app_id, quantity, properties and _update_existing_only of a purchase are optional", async () => {
    const workspace = await server.workspace();
    for (const given of [
      { app_id: WEB_APP, quantity: 1, properties: { a: 1 }, _update_existing_only: false },
      { app_id: null, quantity: null, properties: null, _update_existing_only: null },
    ]) {
      assert.equal((await send(workspace, { ...PURCHASE, ...given })).body.errors, undefined);
    }
    assert.equal((await ada(workspace)).purchases[0].count, 2);
  });

  test("the currency of a purchase is an ISO 4217 code in any case", async () => {
    const workspace = await server.workspace();
    await send(workspace, { ...PURCHASE, currency: "eur" }, { ...PURCHASE, currency: "JPY" });
    assert.deepEqual((await ada(workspace)).revenue_by_currency, { EUR: 10, JPY: 10 });
  });

  test("the time of a purchase is read in two forms, and a time in the future becomes the current time", async () => {
    const workspace = await server.workspace();
    const at = (product_id: string, time: string) => ({ ...PURCHASE, product_id, time });
    await send(
      workspace,
      at("a", "2020-01-24T11:59:02.402+05:30"),
      at("b", "2020-01-24T11:59:02:402+0530"),
      at("c", "2999-01-01T00:00:00Z"),
    );
    const [a, b, c] = (await ada(workspace)).purchases;
    assert.equal(a.first, "2020-01-24T06:29:02.402Z");
    assert.equal(b.first, "2020-01-24T06:29:02.402Z");
    assertAbout(c.last);
  });

  for (const name of ["time", "product_id", "quantity", "event_name", "price", "currency"]) {
    test(`'${name}' is accepted as the name of a property of a purchase`, async () => {
      const top = await send(workspace, { ...PURCHASE, properties: { [name]: 1 } });
      assert.equal(top.status, 201);
      const taken = await send(workspace, { ...PURCHASE, properties: { list: [{ [name]: 1 }] } });
      assert.equal(taken.status, 201);
    });
  }

  test("the properties of a purchase follow the rules for names and sizes of event properties", async () => {
    const workspace = await server.workspace();
    const verdict = async (properties: object) =>
      (await send(workspace, { ...PURCHASE, properties })).body.errors?.[0]?.code;
    assert.equal(await verdict({ "": 1 }), "INVALID_PROPERTIES");
    assert.equal(await verdict({ a: [{ $b: 1 }] }), "INVALID_PROPERTIES");
    assert.equal(await verdict({ ["n".repeat(255)]: 1 }), undefined);
    assert.equal(await verdict({ ["n".repeat(256)]: 1 }), "INVALID_PROPERTIES");
    const text = "x".repeat(51_200 - '{"list":[],"text":""}'.length);
    assert.equal(await verdict({ list: [], text }), undefined);
    assert.equal(await verdict({ list: [], text: `${text}x` }), "PROPERTIES_TOO_LARGE");
  });
});

describe("purchase totals", () => {
  test("a purchase of quantity n counts as n purchases and n times its price", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { ...PURCHASE, price: 19.99, quantity: 3 },
      { ...PURCHASE, price: 0.01, quantity: 100 },
      { ...PURCHASE, product_id: "pen", price: 2.5 },
    );
    const { purchases, total_revenue } = await ada(workspace);
    assert.deepEqual(
      purchases.map((each: any) => [each.name, each.count]),
      [
        ["book", 103],
        ["pen", 1],
      ],
    );
    assert.equal(total_revenue, 63.47);
  });

  test("identical purchases are counted separately, within a request and across requests", async () => {
    const workspace = await server.workspace();
    await send(workspace, PURCHASE, PURCHASE);
    await Promise.all([send(workspace, PURCHASE), send(workspace, PURCHASE)]);
    const { purchases, total_revenue } = await ada(workspace);
    assert.deepEqual([purchases[0].count, total_revenue], [4, 40]);
  });

  test("a negative price is a refund that decreases the revenue and increases the count", async () => {
    const workspace = await server.workspace();
    await send(workspace, { ...PURCHASE, price: 30.1 }, { ...PURCHASE, price: -50.25 });
    const { purchases, total_revenue, revenue_by_currency } = await ada(workspace);
    assert.equal(purchases[0].count, 2);
    assert.equal(total_revenue, -20.15);
    assert.deepEqual(revenue_by_currency, { EUR: -20.15 });
  });

  test("revenue is summed per currency, and a product has one entry for all currencies", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { ...PURCHASE, price: 0.1, time: "2026-01-03T00:00:00Z" },
      { ...PURCHASE, price: 0.2, time: "2026-01-02T00:00:00Z" },
      { ...PURCHASE, price: 1000, currency: "JPY", time: "2026-01-01T00:00:00Z" },
      { ...PURCHASE, price: 0.005, currency: "KWD", time: "2026-01-04T00:00:00Z", quantity: 2 },
    );
    const { purchases, revenue_by_currency, total_revenue } = await ada(workspace);
    assert.deepEqual(revenue_by_currency, { EUR: 0.3, JPY: 1000, KWD: 0.01 });
    assert.equal(total_revenue, 1000.31);
    assert.deepEqual(purchases, [
      {
        name: "book",
        first: "2026-01-01T00:00:00.000Z",
        last: "2026-01-04T00:00:00.000Z",
        count: 5,
      },
    ]);
  });

  test("purchase amounts are summed without rounding, across many requests", async () => {
    const cents = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
    const line = fc.record({ cents, quantity: fc.integer({ min: 1, max: 100 }) });
    const requests = fc.array(fc.array(line, { minLength: 1, maxLength: 50 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(requests, async (lists) => {
        const workspace = await server.workspace();
        for (const lines of lists) {
          const sold = lines.map((each) => ({
            ...PURCHASE,
            price: each.cents / 100,
            quantity: each.quantity,
          }));
          await send(workspace, ...sold);
        }
        const all = lists.flat();
        const expected = all.reduce((sum, each) => sum + each.cents * each.quantity, 0);
        const { total_revenue, purchases } = await ada(workspace);
        assert.equal(total_revenue, expected / 100);
        assert.equal(
          purchases[0].count,
          all.reduce((sum, each) => sum + each.quantity, 0),
        );
      }),
      { numRuns: 10 },
    );
  });

  test("the smallest and the largest prices that JSON carries exactly are stored without loss", async () => {
    const workspace = await server.workspace();
    const prices = { a: 5e-324, b: 1e-7, c: Number.MAX_SAFE_INTEGER, d: 0, e: -0 };
    for (const [product_id, price] of Object.entries(prices)) {
      const answer = await send(workspace, {
        ...PURCHASE,
        external_id: product_id,
        product_id,
        price,
      });
      assert.equal(answer.status, 201);
      const profile = await workspace.profile({ external_ids: [product_id] });
      assert.equal(profile.total_revenue, price || 0);
    }
    const answer = await workspace.call("POST", "/users/track", undefined, {
      raw: JSON.stringify({ purchases: [PURCHASE] }).replace(":10,", ":1e400,"),
    });
    assert.equal(answer.status, 400);
  });
});

test("a purchase is stored with all its fields, and with its properties as sent", async () => {
  const lasting = await lastingDatabase();
  const kept = await startOwnServer({}, undefined, lasting);
  const workspace = await kept.workspace();
  const properties = { color: "red", sizes: [1, { eu: 42 }], nothing: null };
  await send(workspace, { ...PURCHASE, price: 9.99, quantity: 3, app_id: WEB_APP, properties });
  await send(workspace, PURCHASE);
  const rows = await rowsAfterStop<Record<string, any>>(
    kept,
    lasting,
    `select product_id, currency, price, quantity, occurred_at, app_id, properties
     from purchases order by purchase_id`,
  );
  const occurred_at = new Date(TIME);
  const same = { product_id: "book", currency: "EUR", occurred_at };
  assert.deepEqual(rows, [
    { ...same, price: "9.99", quantity: 3, app_id: WEB_APP, properties },
    { ...same, price: "10", quantity: 1, app_id: null, properties: null },
  ]);
});
