import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  findUnstorable,
  isLongerThan,
  type Json,
  jsonByteLength,
} from "../../../src/core/base/values/plain-json.ts";
import { anyText } from "../../any-text.ts";

/** The result of `JSON.parse` for a body: the only way in for a key like `__proto__`. */
const parsed = (text: string): unknown => JSON.parse(text);

const arraysInArrays = (levels: number): unknown => parsed("[".repeat(levels) + "]".repeat(levels));
const objectsInObjects = (levels: number): unknown =>
  parsed(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

describe("findUnstorable", () => {
  const storable = [
    ...["null", "true", "0", "-0", "1.5", '""', '"\\ud83d\\ude00"', '"\\u0001"', "[]", "{}"],
    ...["9007199254740991", "-9007199254740991", "5e-324", '{"constructor":1,"toString":2}'],
    ...['{"":1}', '{"proto":{"a":[1,"2",null,true]}}', '"\\uffff"'],
  ];
  for (const text of storable) {
    test(`findUnstorable finds nothing in ${text}`, () => {
      assert.equal(findUnstorable(parsed(text), "properties"), undefined);
    });
  }

  const unstorable: readonly (readonly [json: string, code: string, sentence: string])[] = [
    [
      '{"items":[1,2,3,{"name":"a\\u0000b"}]}',
      "INVALID_TEXT",
      "'properties.items[3].name' is not valid: the text holds a NUL character",
    ],
    [
      '["\\ud800"]',
      "INVALID_TEXT",
      "'properties[0]' is not valid: the text holds a lone surrogate, which is no Unicode " +
        "character",
    ],
    [
      '{"a":"x\\udc00\\ud800"}',
      "INVALID_TEXT",
      "'properties.a' is not valid: the text holds a lone surrogate, which is no Unicode character",
    ],
    [
      '{"a\\u0000":1}',
      "INVALID_TEXT",
      "'properties.a\\u0000' is not valid: the key holds a NUL character",
    ],
    [
      '{"a":{"\\udfff":1}}',
      "INVALID_TEXT",
      "'properties.a.\\udfff' is not valid: the key holds a lone surrogate, which is no " +
        "Unicode character",
    ],
    [
      '{"a":[{"__proto__":{"isAdmin":true}}]}',
      "INVALID_KEY",
      "'properties.a[0].__proto__' is not valid: '__proto__' is not allowed as a key",
    ],
    [
      '{"a":9007199254740992}',
      "NUMBER_NOT_EXACT",
      "'properties.a' is not valid: beyond ±9007199254740991 no number is exact; send a smaller one, or an id as a string",
    ],
    [
      "[[1e999]]",
      "NUMBER_NOT_EXACT",
      "'properties[0][0]' is not valid: beyond ±9007199254740991 no number is exact; send a smaller one, or an id as a string",
    ],
  ];
  for (const [json, code, message] of unstorable) {
    test(`findUnstorable finds ${code} in ${json}`, () => {
      assert.deepEqual(findUnstorable(parsed(json), "properties"), { code, message });
    });
  }

  test("findUnstorable finds NaN and both infinities", () => {
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.equal(findUnstorable({ number }, "")?.code, "NUMBER_NOT_EXACT");
    }
  });

  test("findUnstorable starts the path of a whole item with its first key", () => {
    const message = "'a.b[0]' is not valid: the text holds a NUL character";
    assert.equal(findUnstorable({ a: { b: ["\0"] } }, "")?.message, message);
    assert.match(findUnstorable(["\0"], "")?.message ?? "", /^'\[0\]' is not valid/);
    assert.match(findUnstorable("\0", "")?.message ?? "", /^'value' is not valid/);
  });

  test("findUnstorable names the first of several faults in the order of the input", () => {
    assert.match(findUnstorable({ a: "fine", b: "\0", c: 1e300 }, "")?.message ?? "", /'b'/);
  });

  test("findUnstorable accepts 100 levels of nesting and refuses the 101st", () => {
    for (const nested of [arraysInArrays, objectsInObjects]) {
      assert.equal(findUnstorable(nested(100), "properties"), undefined);
      assert.equal(findUnstorable(nested(101), "properties")?.code, "NESTED_TOO_DEEP");
    }
  });

  test("findUnstorable survives 100,000 levels of nesting", () => {
    for (const nested of [arraysInArrays, objectsInObjects]) {
      assert.equal(findUnstorable(nested(100_000), "properties")?.code, "NESTED_TOO_DEEP");
    }
  });

  test("a message of findUnstorable stays short and printable, however long the keys are", () => {
    const key = `\u{1f600}\n${"k".repeat(100_000)}`;
    const fault = findUnstorable({ [key]: { [key]: "\0" } }, "properties");
    assert.ok(fault && fault.message.length < 300);
    assert.ok(fault.message.isWellFormed() && !fault.message.includes("\n"));
  });

  test("a key that findUnstorable shortens inside a surrogate pair leaves no half of it", () => {
    const fault = findUnstorable({ [`${"k".repeat(59)}\u{1f600}`]: "\0" }, "properties");
    assert.equal(
      fault?.message,
      `'properties.${"k".repeat(59)}…' is not valid: the text holds a NUL character`,
    );
  });
});

/** Trees of storable values, with keys that show plainly in a path. */
const storableValues: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>(null, true, false),
    fc.maxSafeInteger(),
    fc.double({ min: -1e15, max: 1e15, noNaN: true }),
    fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0")),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie("value"), { maxKeys: 4 }),
  ),
})).value;

const plantable = fc.constantFrom<readonly [value: unknown, code: string]>(
  ["a\0", "INVALID_TEXT"],
  ["\ud800", "INVALID_TEXT"],
  [{ "\0": 1 }, "INVALID_TEXT"],
  [parsed('{"__proto__":1}'), "INVALID_KEY"],
  [2 ** 53, "NUMBER_NOT_EXACT"],
  [Number.NEGATIVE_INFINITY, "NUMBER_NOT_EXACT"],
  [arraysInArrays(101), "NESTED_TOO_DEEP"],
);

describe("findUnstorable with generated values", () => {
  test("findUnstorable finds nothing in any storable value and does not modify it", () => {
    fc.assert(
      fc.property(storableValues, (value) => {
        const before = JSON.stringify(value);
        assert.equal(findUnstorable(value, "properties"), undefined);
        assert.equal(JSON.stringify(value), before);
      }),
    );
  });

  test("findUnstorable finds a planted fault and names its exact path", () => {
    const steps = fc.array(
      fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer({ min: 0, max: 3 })),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(steps, plantable, storableValues, (path, [planted, code], filler) => {
        const whole = path.reduceRight<unknown>(
          (inner, step) =>
            typeof step === "number"
              ? [...Array(step).fill(filler), inner, filler]
              : { A: filler, [step]: inner, Z: filler },
          planted,
        );
        const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
        const fault = findUnstorable(whole, "properties");
        assert.equal(fault?.code, code);
        assert.ok(fault?.message.startsWith(`'properties${place.join("")}`), fault?.message);
      }),
    );
  });

  test("findUnstorable never throws, at any depth and with any text", () => {
    fc.assert(
      fc.property(fc.nat(20_000), anyText(), (levels, text) => {
        let value: unknown = text;
        for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { key: value };
        const fault = findUnstorable(value, text);
        assert.equal(fault?.code === "NESTED_TOO_DEEP", levels > 100);
      }),
      { numRuns: 50 },
    );
  });
});

test("jsonByteLength counts the bytes of compact UTF-8 JSON", () => {
  assert.equal(jsonByteLength({}), 2);
  assert.equal(jsonByteLength({ a: [1, "é", "€", "\u{1f600}", null] }), 32);
  fc.assert(
    fc.property(storableValues, (value) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
      assert.equal(jsonByteLength(value), bytes);
    }),
  );
});

test("isLongerThan counts characters, not UTF-16 units", () => {
  assert.equal(isLongerThan("", 0), false);
  assert.equal(isLongerThan("abc", 3), false);
  assert.equal(isLongerThan("abcd", 3), true);
  assert.equal(isLongerThan("\u{1f600}".repeat(255), 255), false);
  assert.equal(isLongerThan("\u{1f600}".repeat(256), 255), true);
  assert.equal(isLongerThan(`${"a".repeat(255)}\u{1f600}`, 255), true);
});
