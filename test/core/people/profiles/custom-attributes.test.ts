import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json } from "../../../../src/core/base/values/plain-json.ts";
import {
  applyOperation,
  checkCustomAttribute,
  needsCurrent,
} from "../../../../src/core/people/profiles/custom-attributes.ts";
import {
  faultOf,
  maxBytes,
  numbers,
  objectOfBytes,
  operationOf,
  parsed,
  send,
  shown,
} from "./custom-attribute-values.ts";

describe("custom attribute names", () => {
  for (const name of [
    "a",
    "with space",
    "with.dot",
    "price$",
    "constructor",
    "\u{1f600}".repeat(255),
  ]) {
    test(`${shown(name)} is accepted as a custom attribute name`, () => {
      assert.deepEqual(checkCustomAttribute(name, 1, false), {
        value: { kind: "set", name, value: 1 },
      });
    });
  }
  for (const name of ["", "$a", "$add", "__proto__", "a".repeat(256)]) {
    test(`${shown(name)} is refused as a custom attribute name, even with the value null`, () => {
      assert.equal(faultOf(checkCustomAttribute(name, 1, false))?.code, "INVALID_KEY");
      assert.equal(faultOf(checkCustomAttribute(name, null, false))?.code, "INVALID_KEY");
    });
  }
});

describe("setting a custom attribute", () => {
  const keptAsSent: readonly Json[] = [
    ...["", "text", "\u{1f600}".repeat(255), "2020-01-24T11:59:02.403+05:30", "12/1/2021"],
    ...["2020-02-30", 0, -1.5, 9007199254740991, true, false, [], {}],
    ...[["1", "2", "str1"], [1, "1", true, "true"], numbers(500), [{ id: 1 }, { id: 1 }, {}]],
    ...[{ key1: "value1", deep: { list: [1, 1, "a"], objects: [{ x: [true] }], empty: [] } }],
    ...[{ $time: "2020-01-24" }, { born: { $time: "01/24/2020" } }, [{ $time: "2020-01-24" }]],
    // only the keys of an operator make one
    ...[
      { inc: 1, other: 2 },
      { add: ["a"], other: 1 },
      { add: ["a"], remove: ["b"], inc: 1 },
    ],
    ...[{ nested: { inc: "x" } }, { nested: { add: 1 } }, { Inc: "x" }],
    ...[parsed('{"constructor":{"prototype":{"polluted":1}},"toString":1}')],
    // null where a value is missing
    ...[{ x: null }, { x: { y: null } }, [{ x: null }], [{ x: 1 }, null], { x: [{ y: null }] }],
    ...[[null], ["a", null, 1], [null, { x: 1 }], { x: ["a", null] }, { inc: null, other: 2 }],
    ...[{ ["k".repeat(255)]: "v".repeat(255) }, objectOfBytes(maxBytes), { "with space": 1 }],
  ];
  for (const value of keptAsSent) {
    test(`${shown(value)} is stored exactly as sent`, () => {
      const operation = operationOf(value);
      assert.deepEqual(operation, { kind: "set", name: "a", value });
      assert.equal(needsCurrent(operation), false);
      for (const current of [undefined, "before", { before: 1 }]) {
        assert.deepEqual(applyOperation(current, operation), { value });
      }
    });
  }

  test("null removes a custom attribute with any value", () => {
    const operation = operationOf(null, true);
    assert.deepEqual(operation, { kind: "remove", name: "a" });
    assert.equal(needsCurrent(operation), false);
    for (const current of [undefined, 1, [1], { a: 1 }]) {
      assert.deepEqual(applyOperation(current, operation), { value: undefined });
    }
  });

  test("an array of scalars is stored as sent, including repeated values", () => {
    const sent = ["b", "a", "b", 1, "1", 1, true];
    assert.deepEqual(send(undefined, sent), sent);
  });

  test("an array of 500 elements is accepted, and one of 501 is refused", () => {
    assert.deepEqual(send(undefined, numbers(500)), numbers(500));
    for (const tooLong of [numbers(501), Array(501).fill(null)]) {
      assert.equal(faultOf(checkCustomAttribute("a", tooLong, false))?.code, "ARRAY_TOO_LONG");
    }
  });

  test("a null inside an object that is merged is refused, because it would look like a deletion", () => {
    for (const [value, place] of [
      [{ x: null }, "a.x"],
      [{ x: { y: [1, null] } }, "a.x.y[1]"],
      [{ x: [{ y: null }] }, "a.x[0].y"],
    ] as const) {
      const message = `'${place}' is not valid: null is not allowed inside a change of a stored value`;
      const expected = { code: "INVALID_ATTRIBUTE", message };
      assert.deepEqual(faultOf(checkCustomAttribute("a", value, true)), expected);
    }
    assert.deepEqual(send(undefined, [{ x: null }], true), [{ x: null }]);
  });
});

describe("invalid custom attribute values", () => {
  const inexact =
    "beyond ±9007199254740991 no number is exact; send a smaller one, or an id as a string";
  const table: readonly (readonly [value: unknown, code: string, message: string])[] = [
    [
      "a".repeat(256),
      "VALUE_TOO_LONG",
      "'a' is not valid: the string has more than 255 characters",
    ],
    [2 ** 53, "NUMBER_NOT_EXACT", `'a' is not valid: ${inexact}`],
    [[1, -(2 ** 53)], "NUMBER_NOT_EXACT", `'a[1]' is not valid: ${inexact}`],
    [
      ["a", "b".repeat(256)],
      "VALUE_TOO_LONG",
      "'a[1]' is not valid: the string has more than 255 characters",
    ],
    [
      numbers(501),
      "ARRAY_TOO_LONG",
      "'a' is not valid: the array would have 501 elements, of at most 500",
    ],
    // arrays hold scalars or objects
    [[1, [2]], "INVALID_ATTRIBUTE", "'a[1]' is not valid: an array cannot hold an array"],
    [
      [1, { x: 1 }],
      "INVALID_ATTRIBUTE",
      "'a[1]' is not valid: an array holds either objects or scalars, not both",
    ],
    [
      [{ x: 1 }, 1],
      "INVALID_ATTRIBUTE",
      "'a[1]' is not valid: an array holds either objects or scalars, not both",
    ],
    [{ x: [[1]] }, "INVALID_ATTRIBUTE", "'a.x[0]' is not valid: an array cannot hold an array"],
    [
      { x: [1, {}] },
      "INVALID_ATTRIBUTE",
      "'a.x[1]' is not valid: an array holds either objects or scalars, not both",
    ],
    // keys
    [
      { x: { "y.z": 1 } },
      "INVALID_KEY",
      "'a.x.y.z' is not valid: a key must not contain '.' or '$'",
    ],
    [{ x: { y$: 1 } }, "INVALID_KEY", "'a.x.y$' is not valid: a key must not contain '.' or '$'"],
    [{ "": 1 }, "INVALID_KEY", "'a.' is not valid: a key cannot be empty"],
    [
      parsed('{"x":[{"__proto__":1}]}'),
      "INVALID_KEY",
      "'a.x[0].__proto__' is not valid: '__proto__' is not allowed as a key",
    ],
    [
      { x: "y".repeat(256) },
      "VALUE_TOO_LONG",
      "'a.x' is not valid: the string has more than 255 characters",
    ],
    [{ x: [0, 2 ** 53] }, "NUMBER_NOT_EXACT", `'a.x[1]' is not valid: ${inexact}`],
    // dates
    [
      { $time: "x" },
      "INVALID_ATTRIBUTE",
      "'a.$time' is not valid: 'x' is not an ISO 8601 date up to the year 3000",
    ],
    [
      { x: [{ $time: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.x[0].$time' is not valid: 1 is not an ISO 8601 date up to the year 3000",
    ],
    [
      { $time: null },
      "INVALID_ATTRIBUTE",
      "'a.$time' is not valid: null is not an ISO 8601 date up to the year 3000",
    ],
    [
      { $time: "3001-01-01" },
      "INVALID_ATTRIBUTE",
      "'a.$time' is not valid: '3001-01-01' is not an ISO 8601 date up to the year 3000",
    ],
    [
      { $time: "2020-01-24", x: 1 },
      "INVALID_KEY",
      "'a.$time' is not valid: a key must not contain '.' or '$'",
    ],
    // size
    [
      objectOfBytes(maxBytes + 1),
      "OBJECT_TOO_LARGE",
      "'a' is not valid: it takes more than 102400 bytes as JSON",
    ],
    [
      [objectOfBytes(maxBytes)],
      "OBJECT_TOO_LARGE",
      "'a' is not valid: it takes more than 102400 bytes as JSON",
    ],
    // operators that are none
    [{ inc: "5" }, "INVALID_ATTRIBUTE", "'a' is not valid: 'inc' takes an integer, not '5'"],
    [{ inc: 1.5 }, "INVALID_ATTRIBUTE", "'a' is not valid: 'inc' takes an integer, not 1.5"],
    [{ inc: null }, "INVALID_ATTRIBUTE", "'a' is not valid: 'inc' takes an integer, not null"],
    [{ inc: 2 ** 53 }, "NUMBER_NOT_EXACT", `'a' is not valid: ${inexact}`],
    [{ add: "x" }, "INVALID_ATTRIBUTE", "'a' is not valid: 'add' takes an array, not 'x'"],
    [
      { remove: { x: 1 } },
      "INVALID_ATTRIBUTE",
      "'a' is not valid: 'remove' takes an array, not an object",
    ],
    [
      { add: [{ x: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.add[0]' is not valid: an object is not allowed in an array of scalars",
    ],
    [
      { add: ["x"], remove: [null] },
      "INVALID_ATTRIBUTE",
      "'a.remove[0]' is not valid: null is not allowed in an array of scalars",
    ],
    [
      { add: ["x".repeat(256)] },
      "VALUE_TOO_LONG",
      "'a.add[0]' is not valid: the string has more than 255 characters",
    ],
    [
      { $add: { id: 1 } },
      "INVALID_ATTRIBUTE",
      "'a' is not valid: '$add' takes an array of objects, not an object",
    ],
    [
      { $add: [{ id: 1 }], id: 2 },
      "INVALID_ATTRIBUTE",
      "'a' is not valid: 'id' cannot be combined with '$add', '$update' and '$remove'",
    ],
    [{ $add: ["x"] }, "INVALID_ATTRIBUTE", "'a.$add[0]' is not valid: 'x' is not an object"],
    [
      { $add: [{ id: null }] },
      "INVALID_ATTRIBUTE",
      "'a.$add[0].id' is not valid: null is not allowed inside a change of a stored value",
    ],
    [
      { $update: [{ $identifier_key: "id", $identifier_value: 1, $new_object: { x: [null] } }] },
      "INVALID_ATTRIBUTE",
      "'a.$update[0].$new_object.x[0]' is not valid: null is not allowed inside a change of a stored value",
    ],
    [
      { $update: [{ $identifier_key: "id", $identifier_value: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.$update[0]' is not valid: it takes exactly '$identifier_key', '$identifier_value' " +
        "and '$new_object'",
    ],
    [
      { $update: [{ $identifier_key: "id", $identifier_value: 1, $new_object: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.$update[0].$new_object' is not valid: 1 is not an object",
    ],
    [
      { $update: [{ $identifier_key: "id", $identifier_value: 1, $new_object: { "x.y": 1 } }] },
      "INVALID_KEY",
      "'a.$update[0].$new_object.x.y' is not valid: a key must not contain '.' or '$'",
    ],
    [
      { $remove: [{ $identifier_key: 1, $identifier_value: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.$remove[0]' is not valid: '$identifier_key' is 1, not a string",
    ],
    [
      { $remove: [{ $identifier_key: "id", $identifier_value: null }] },
      "INVALID_ATTRIBUTE",
      "'a.$remove[0]' is not valid: '$identifier_value' is null, not a scalar",
    ],
    [
      { $remove: [{ $identifier_key: "id", $identifier_value: 1, x: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.$remove[0]' is not valid: it takes exactly '$identifier_key' and '$identifier_value'",
    ],
    [
      { $remove: [{ $identifier_key: "id", x: 1 }] },
      "INVALID_ATTRIBUTE",
      "'a.$remove[0]' is not valid: it takes exactly '$identifier_key' and '$identifier_value'",
    ],
    [
      { $remove: ["x"] },
      "INVALID_ATTRIBUTE",
      "'a.$remove[0]' is not valid: it takes exactly '$identifier_key' and '$identifier_value'",
    ],
    [
      { $remove: Array(501).fill({ $identifier_key: "id", $identifier_value: 1 }) },
      "ARRAY_TOO_LONG",
      "'a' is not valid: '$remove' takes at most 500 elements, not 501",
    ],
  ];
  for (const [value, code, message] of table) {
    test(`${shown(value)} is refused: ${message}`, () => {
      for (const mergeObjects of [false, true]) {
        const outcome = checkCustomAttribute("a", value, mergeObjects);
        assert.deepEqual(outcome, { fault: { code, message } });
      }
    });
  }

  test("a key of more than 255 characters is refused with a message that does not repeat it", () => {
    const fault = faultOf(checkCustomAttribute("a", { ["k".repeat(256)]: 1 }, false));
    assert.equal(fault?.code, "INVALID_KEY");
    assert.ok(fault.message.length < 150, fault.message);
  });
});
