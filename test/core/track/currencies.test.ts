/* Currencies of purchases: ISO 4217, with withdrawn codes for purchases of their time. docs/decisions/money.md */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { endOfCurrency, isCurrency } from "../../../src/core/track/currencies.ts";
import { startServer } from "../../harness.ts";

const server = await startServer();

/** Withdrawn codes with a day on which each was still in use, and one on which it was not any more. */
const WITHDRAWN: readonly (readonly [code: string, last: string, after: string])[] = [
  ["ADP", "2001-12-31", "2003-09-01"],
  ["AFA", "2002-12-31", "2003-02-01"],
  ["ANG", "2025-06-30", "2025-07-15"],
  ["ATS", "2002-02-28", "2002-04-01"],
  ["AYM", "2005-10-01", "2005-12-01"],
  ["AZM", "2006-12-31", "2007-02-01"],
  ["BEF", "2002-02-28", "2002-04-01"],
  ["BGL", "1999-07-05", "1999-08-01"],
  ["BGN", "2026-01-15", "2026-03-01"],
  ["BYB", "2000-12-31", "2001-02-01"],
  ["BYR", "2016-12-31", "2017-02-01"],
  ["CSD", "2006-10-01", "2006-12-01"],
  ["CUC", "2020-12-31", "2021-07-01"],
  ["CYP", "2007-12-31", "2008-03-01"],
  ["DEM", "2001-12-31", "2002-07-01"],
  ["EEK", "2010-12-31", "2011-02-01"],
  ["ESP", "2002-02-28", "2002-04-01"],
  ["FIM", "2002-02-28", "2002-04-01"],
  ["FRF", "2002-02-17", "2002-04-01"],
  ["GHC", "2007-06-30", "2008-02-01"],
  ["GRD", "2002-02-28", "2002-04-01"],
  ["HRK", "2022-12-31", "2023-02-01"],
  ["IEP", "2002-02-09", "2002-04-01"],
  ["ITL", "2002-02-28", "2002-04-01"],
  ["LTL", "2014-12-31", "2015-02-01"],
  ["LUF", "2002-02-28", "2002-04-01"],
  ["LVL", "2013-12-31", "2014-02-01"],
  ["MGF", "2004-12-31", "2005-02-01"],
  ["MRO", "2017-12-31", "2018-08-01"],
  ["MTL", "2007-12-31", "2008-03-01"],
  ["MZM", "2006-06-30", "2007-02-01"],
  ["NLG", "2002-02-28", "2002-04-01"],
  ["PTE", "2002-02-28", "2002-04-01"],
  ["ROL", "2005-06-30", "2007-02-01"],
  ["RUR", "1997-12-31", "2004-03-01"],
  ["SDD", "2007-06-30", "2007-08-01"],
  ["SIT", "2006-12-31", "2007-03-01"],
  ["SKK", "2008-12-31", "2009-02-01"],
  ["SLL", "2023-06-30", "2024-02-01"],
  ["SRG", "2003-12-31", "2004-02-01"],
  ["STD", "2017-12-31", "2018-02-01"],
  ["TMM", "2008-12-31", "2009-02-01"],
  ["TRL", "2004-12-31", "2006-02-01"],
  ["USS", "2014-02-28", "2014-04-01"],
  ["VEB", "2007-12-31", "2008-08-01"],
  ["VEF", "2018-08-20", "2018-10-01"],
  ["YUM", "2003-07-01", "2003-09-01"],
  ["ZMK", "2012-12-31", "2013-02-01"],
  ["ZWD", "2008-07-31", "2008-09-01"],
  ["ZWL", "2024-08-31", "2024-10-01"],
  ["ZWN", "2008-07-31", "2008-09-01"],
  ["ZWR", "2009-02-01", "2009-03-01"],
];

const at = (date: string) => new Date(`${date}T12:00:00Z`);

describe("the list of currencies", () => {
  test("each withdrawn code is a currency until it ended, and not afterwards", () => {
    for (const [code, last, after] of WITHDRAWN) {
      assert.ok(isCurrency(code, at(last)), `${code} on ${last}`);
      assert.ok(!isCurrency(code, at(after)), `${code} on ${after}`);
      assert.match(endOfCurrency(code, at(after)) ?? "", /^\d{4}-\d\d-\d\d$/);
    }
  });

  test("every present code is a currency at any time, also funds, metals and the newest", () => {
    const present =
      "XCG XAD EUR USD JPY SVC SLE VED VES ZWG BYN MRU STN CUP BOV CHE CHW CLF COU MXV USN UYI UYW XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX XAF XOF XPF XCD";
    for (const code of present.split(" ")) {
      for (const date of ["1995-01-01", "2026-11-01", "2099-01-01"]) {
        assert.ok(isCurrency(code, at(date)), `${code} on ${date}`);
      }
    }
  });

  test("what was never in ISO 4217 is no currency at any time", () => {
    for (const code of ["CNH", "BTC", "XYZ", "GGP", "YUR", "", "constructor", "__proto__"]) {
      assert.ok(!isCurrency(code, at("1990-06-01")), code);
      assert.equal(endOfCurrency(code, at("2026-06-01")), undefined, code);
    }
  });

  test("a day has ended when it has ended in every time zone", () => {
    assert.ok(isCurrency("ANG", new Date("2025-06-30T23:59:59-12:00")));
    assert.ok(!isCurrency("ANG", new Date("2025-07-01T00:00:00-12:00")));
  });
});

test("a purchase in a withdrawn currency is stored if it is of its time, by track and by import, and refused with the date otherwise", async () => {
  const workspace = await server.workspace();
  const purchase = (currency: string, time: string) => ({
    external_id: "ada",
    product_id: currency,
    currency,
    price: 1,
    time: `${time}T12:00:00Z`,
  });
  const purchases = [
    purchase("xcg", "2026-01-01"),
    purchase("XAD", "2026-01-01"),
    purchase("HRK", "2022-06-01"),
    purchase("HRK", "2024-06-01"),
    purchase("BGN", "2025-06-01"),
    purchase("BGN", "2026-06-01"),
    purchase("CNH", "2026-01-01"),
  ];
  const { body } = await workspace.track({ purchases });
  assert.equal(body.purchases_processed, 4);
  assert.deepEqual(
    body.errors?.map(({ code, index, message }) => [code, index, message.split(": ")[1]]),
    [
      ["INVALID_CURRENCY", 3, "'HRK' was withdrawn on 2023-01-14, before the time of the purchase"],
      ["INVALID_CURRENCY", 5, "'BGN' was withdrawn on 2026-01-31, before the time of the purchase"],
      ["INVALID_CURRENCY", 6, "it must be an ISO 4217 code"],
    ],
  );
  const imported = await server.admin(
    "POST",
    `/admin/v1/workspaces/${workspace.name}/imports/currencies`,
    { kind: "purchases", first_row: 1, rows: purchases },
  );
  assert.equal(imported.body.imported, 4, JSON.stringify(imported.body));
  const ada = await workspace.profile({ external_ids: ["ada"] });
  const totals = ada.purchases.map(({ name, count }: any) => [name, count]).sort();
  assert.deepEqual(totals, [
    ["BGN", 2],
    ["HRK", 2],
    ["XAD", 2],
    ["xcg", 2],
  ]);
});
