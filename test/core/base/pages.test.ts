/* The pagination helpers (core/base/pages.ts): the targets of links and cursors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forwardPage, readPage } from "../../../src/core/base/pages.ts";

const ROWS = ["a", "b", "c", "d", "e"];

const listing = (query: Record<string, unknown>) => ({
  path: "/list",
  query,
  pageSize: 2,
  keyOf: (row: string) => row,
  isKey: () => true,
  select: async (beyond: string | undefined, isForward: boolean, atMost: number) =>
    (isForward
      ? ROWS.filter((row) => beyond === undefined || row > beyond)
      : ROWS.filter((row) => beyond === undefined || row < beyond).reverse()
    ).slice(0, atMost),
});

const addressesIn = (link = "") =>
  new Map(
    [...link.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url = "", rel = ""]) => [rel, url]),
  );

const queryOf = (url = "") => new URL(url, "http://host").searchParams;

describe("pages", () => {
  test("the links of a page keep every other query parameter and replace the cursor", async () => {
    const query = { name: "a b&c", state: ["x", "y"], absent: undefined, cursor: "old" };
    const { headers } = await readPage(listing(query), undefined);
    const next = queryOf(addressesIn(headers.link).get("next"));
    assert.equal(next.get("name"), "a b&c");
    assert.deepEqual(next.getAll("state"), ["x", "y"]);
    assert.equal(next.has("absent"), false);
    assert.equal(next.getAll("cursor").length, 1);
    assert.notEqual(next.get("cursor"), "old");
  });

  test("following the next links reads every row once, and the previous links lead back", async () => {
    const read: string[] = [];
    let cursor: string | undefined;
    let link: Map<string, string>;
    do {
      const page = await readPage(listing({}), cursor);
      read.push(...page.rows);
      link = addressesIn(page.headers.link);
      cursor = queryOf(link.get("next")).get("cursor") ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(read, ROWS);
    const back = await readPage(listing({}), queryOf(link.get("prev")).get("cursor") ?? undefined);
    assert.deepEqual(back.rows, ["c", "d"]);
  });

  test("a page that ends exactly at the last row has no next cursor", () => {
    assert.deepEqual(forwardPage([1, 2], 2, String), { rows: [1, 2], next: {} });
    assert.deepEqual(forwardPage([1, 2, 3], 2, String), {
      rows: [1, 2],
      next: { next_cursor: "2" },
    });
  });
});
