import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type Filter, parseFilter, parsePath } from "../../src/features/scim/protocol/filter.ts";
import { USER_SCHEMA } from "../scim-client.ts";

const path = (...names: string[]) => ({ schema: undefined, names });

describe("the SCIM filter language", () => {
  const eq = (name: string, value: string | number | boolean | null): Filter => ({
    op: "eq",
    path: path(name),
    value,
  });
  const [a, b, c] = [eq("a", 1), eq("b", 2), eq("c", 3)] as const;
  const cases: [string, Filter][] = [
    ["a eq 1", a],
    ['  A.b  SW  "x" ', { op: "sw", path: path("A", "b"), value: "x" }],
    ["a pr", { op: "pr", path: path("a") }],
    [
      "a eq 1 or b eq 2 and c eq 3",
      { op: "or", conditions: [a, { op: "and", conditions: [b, c] }] },
    ],
    [
      "(a eq 1 OR b eq 2) And c eq 3",
      { op: "and", conditions: [{ op: "or", conditions: [a, b] }, c] },
    ],
    ["not (a eq 1) and b eq 2", { op: "and", conditions: [{ op: "not", condition: a }, b] }],
    ["not(a eq 1)", { op: "not", condition: a }],
    [
      "e[a eq 1 and b eq 2]",
      { op: "has", path: path("e"), filter: { op: "and", conditions: [a, b] } },
    ],
    [
      "e[a eq 1].b eq 2 or c eq 3",
      {
        op: "or",
        conditions: [{ op: "has", path: path("e"), filter: { op: "and", conditions: [a, b] } }, c],
      },
    ],
    [
      "e[a eq 1].n.m pr",
      {
        op: "has",
        path: path("e"),
        filter: { op: "and", conditions: [a, { op: "pr", path: path("n", "m") }] },
      },
    ],
    [String.raw`a eq "x\"y\\z\u00e9"`, eq("a", 'x"y\\zé')],
    ['a eq "(b eq 2) or c"', eq("a", "(b eq 2) or c")],
    ["a eq true", eq("a", true)],
    ["a eq FALSE", eq("a", false)],
    ["a eq null", eq("a", null)],
    ["a eq -1.5e3", eq("a", -1_500)],
    ["a eq Employee", eq("a", "Employee")],
    ["a eq 2015-10-10T14:38:21.86-07:00", eq("a", "2015-10-10T14:38:21.86-07:00")],
    ["a eq {}", eq("a", "{}")],
    [
      "urn:ietf:params:scim:schemas:core:2.0:User:name.givenName pr",
      { op: "pr", path: { schema: USER_SCHEMA.toLowerCase(), names: ["name", "givenName"] } },
    ],
  ];
  for (const [text, filter] of cases) {
    test(`the SCIM filter ${text} is parsed`, () => assert.deepEqual(parseFilter(text), filter));
  }

  const faults = [
    "",
    " ",
    "a",
    "a eq",
    "a xx 1",
    "eq 1",
    '"a" eq 1',
    "a eq 1 b eq 2",
    "a eq 1 and",
    "and a eq 1",
    "(a eq 1",
    "a eq 1)",
    "()",
    "not a eq 1",
    "not",
    "a[b eq 1",
    "a[]",
    'a eq "x',
    String.raw`a eq "\x"`,
    'a eq "\u0007"',
    "a..b eq 1",
    "1a eq 1",
    "a[b eq 1].c",
    "a[b eq 1].c.1d eq 2",
    "a[b eq 1].c[d eq 2]",
    "a eq 'x'",
    "a eq 'x y'",
    "a eq '",
    `${"(".repeat(21)}a pr${")".repeat(21)}`,
    Array(101).fill("a pr").join(" or "),
  ];
  for (const text of faults) {
    test(`the SCIM filter ${text.slice(0, 40)} is refused with invalidFilter`, () => {
      assert.throws(
        () => parseFilter(text),
        (error: any) => error.details.scimType === "invalidFilter" && error.message.length < 200,
      );
    });
  }

  test("any text is parsed or refused as a SCIM filter or path, without any other error", () => {
    const word = fc.constantFrom(
      "a",
      "(",
      ")",
      "[",
      "]",
      '"x"',
      '"',
      "eq",
      "pr",
      "and",
      "not",
      ".",
      " ",
      "1",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word).map((words) => words.join(" ")),
    );
    fc.assert(
      fc.property(text, (any) => {
        for (const parse of [parseFilter, parsePath]) {
          try {
            parse(any);
          } catch (error: any) {
            assert.match(String(error.details?.scimType), /^invalid(Filter|Path)$/, String(error));
          }
        }
      }),
    );
  });

  test("a SCIM filter at the limits of nesting and length is accepted", () => {
    parseFilter(`${"(".repeat(20)}a pr${")".repeat(20)}`);
    parseFilter(Array(100).fill("a pr").join(" or "));
  });
});
