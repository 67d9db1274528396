/* What is said about a list that is too long. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Type from "typebox";
import { longestList, withShortLists } from "../../../src/core/http/shortened-lists.ts";
import { checkOf } from "../../../src/core/http/validate.ts";

const Names = Type.Array(Type.String(), { maxItems: 3 });

describe("the longest list of a schema", () => {
  test("is the longest of all that it has, in branches and entries too", () => {
    const schema = Type.Object({
      one: Type.Optional(Names),
      two: Type.Union([Type.Null(), Type.Array(Names, { maxItems: 2 })]),
    });
    assert.equal(longestList(schema), 3);
  });

  test("is infinite if one list has no limit, or if there is no list", () => {
    assert.equal(longestList(Type.Object({ a: Names, b: Type.Array(Type.String()) })), Infinity);
    assert.equal(longestList(Type.Object({ a: Type.Unknown() })), Infinity);
  });
});

describe("a value with short lists", () => {
  for (const [what, value, short] of [
    ["a list", [1, 2, 3, 4], [1, 2, 3]],
    ["a list in a member", { a: { b: [1, 2, 3, 4] }, c: 1 }, { a: { b: [1, 2, 3] }, c: 1 }],
    ["a list in a list", [[1, 2, 3, 4], 5], [[1, 2, 3], 5]],
    [
      "a member of any name",
      JSON.parse('{"__proto__":[1,2,3,4]}'),
      JSON.parse('{"__proto__":[1,2,3]}'),
    ],
  ] as const) {
    test(`keeps one entry more than a list may have: ${what}`, () => {
      assert.deepEqual(withShortLists(value, 2), short);
    });
  }

  test("is the value itself if no list is longer, and always if lists have no limit", () => {
    const value = { a: [1, 2, [3]], b: null, c: "text" };
    assert.equal(withShortLists(value, 3), value);
    assert.deepEqual(withShortLists([[1, 2, 3, 4]], Infinity), [[1, 2, 3, 4]]);
  });
});

describe("the check of a body", () => {
  const isSorted = (names: unknown) => `${names}` === `${[...(names as string[])].sort()}`;

  test("says that a list is too long, however long it is", () => {
    const check = checkOf(Type.Object({ names: Names }));
    for (const count of [4, 5, 90_000]) {
      const names = Array.from({ length: count }, (_, index) => `name-${index}`);
      assert.throws(() => check({ names }), { message: "'names' must have at most 3 items" });
    }
  });

  test("says what is wrong with the end of a list that another rule allows", () => {
    const anyNames = Type.Refine(Type.Unknown(), isSorted, () => "must be sorted");
    const check = checkOf(Type.Object({ names: Names, others: anyNames }));
    assert.throws(() => check({ names: [], others: ["a", "b", "c", "d", "e", "a"] }), {
      message: "'others' must be sorted",
    });
  });
});
