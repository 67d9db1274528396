import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "../../../../src/core/base/values/plain-json.ts";
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
  refusal,
  send,
  shown,
} from "./custom-attribute-values.ts";

describe("inc", () => {
  const table: readonly (readonly [before: Json | undefined, by: number, after: number])[] = [
    [undefined, 5, 5],
    [undefined, -5, -5],
    [10, -15, -5],
    [1.5, 2, 3.5],
    [0, 0, 0],
    [9007199254740990, 1, 9007199254740991],
  ];
  for (const [before, by, after] of table) {
    test(`inc by ${by} on ${shown(before)} gives ${after}`, () => {
      assert.equal(send(before, { inc: by }), after);
      assert.equal(send(before, { inc: by }, true), after);
    });
  }

  test("inc on a value that is not a number is refused", () => {
    for (const current of ["5", true, [5], { x: 5 }]) {
      assert.equal(refusal(current, { inc: 1 }), "NOT_A_NUMBER");
    }
    assert.deepEqual(applyOperation("5", operationOf({ inc: 1 })), {
      fault: {
        code: "NOT_A_NUMBER",
        message: "'a' is not valid: 'inc' adds to a number, not to '5'",
      },
    });
  });

  test("inc beyond the range of exact integers is refused", () => {
    assert.equal(refusal(9007199254740991, { inc: 1 }), "NUMBER_NOT_EXACT");
    assert.equal(refusal(-9007199254740991, { inc: -1 }), "NUMBER_NOT_EXACT");
  });
});

describe("add and remove", () => {
  type Row = readonly [before: Json | undefined, change: JsonObject, after: Json | undefined];
  const table: readonly Row[] = [
    [undefined, { add: ["a", "b"] }, ["a", "b"]],
    [["a"], { add: ["b"] }, ["a", "b"]],
    [["a", "b"], { add: ["a"] }, ["a", "b"]],
    [["b", "a", "b"], { add: ["c", "c", "b"] }, ["b", "a", "b", "c"]],
    [["b", "a", "b"], { remove: ["b"] }, ["a"]],
    [["x"], { add: ["a", "b", "a"] }, ["x", "a", "b"]],
    [["a", "b", "c"], { remove: ["b", "z"] }, ["a", "c"]],
    [["a"], { remove: ["a"] }, []],
    [["a", "b"], { add: ["c"], remove: ["a"] }, ["b", "c"]],
    // what is asked for is there afterwards
    [["a", "b"], { add: ["a"], remove: ["a"] }, ["b", "a"]],
    [[1, "1", true], { remove: [1] }, ["1", true]],
    // nothing comes of nothing
    [undefined, { remove: ["a"] }, undefined],
    [undefined, { add: [] }, undefined],
    [["a"], { add: [] }, ["a"]],
    [[], { remove: [] }, []],
  ];
  for (const [before, change, after] of table) {
    test(`the operation ${shown(change)} on ${shown(before)} gives ${shown(after)}`, () => {
      assert.deepEqual(send(before, change), after);
      assert.ok(needsCurrent(operationOf(change)));
    });
  }

  test("add and remove are refused for anything but an array of scalars", () => {
    for (const current of ["a", 1, { x: 1 }, [{ x: 1 }]]) {
      assert.equal(refusal(current, { add: ["a"] }), "NOT_AN_ARRAY");
      assert.equal(refusal(current, { remove: ["a"] }), "NOT_AN_ARRAY");
    }
  });

  test("adding a 501st element is refused unless the same operation removes one", () => {
    assert.equal(refusal(numbers(500), { add: ["new"] }), "ARRAY_TOO_LONG");
    assert.deepEqual(send(numbers(500), { add: [0] }), numbers(500));
    const swapped = send(numbers(500), { add: ["new"], remove: [0] });
    assert.deepEqual(swapped, [...numbers(500).slice(1), "new"]);
  });
});

describe("$add, $update and $remove", () => {
  const identify = (value: Json) => ({ $identifier_key: "id", $identifier_value: value });
  const update = (value: Json, object: JsonObject) => ({ ...identify(value), $new_object: object });
  const pets = [
    { id: 1, name: "Gus", tags: { size: "s", age: 3 } },
    { id: 2, name: "Gerald" },
    { id: 2, name: "Geraldine" },
  ];
  const [gus = {}, gerald = {}, geraldine = {}] = pets;

  type Row = readonly [
    what: string,
    before: Json | undefined,
    change: JsonObject,
    merge: boolean,
    after: Json | undefined,
  ];
  const table: readonly Row[] = [
    ["$add makes the array", undefined, { $add: [{ id: 1 }] }, false, [{ id: 1 }]],
    ["$add comes to the end, and ids may repeat", [gus], { $add: [gus] }, false, [gus, gus]],
    ["$add on an array of nothing", [], { $add: [gus] }, false, [gus]],
    ["$remove takes every match", pets, { $remove: [identify(2)] }, false, [gus]],
    ["$remove without a match", pets, { $remove: [identify("2")] }, false, pets],
    ["$remove of the last leaves an empty array", [gus], { $remove: [identify(1)] }, false, []],
    [
      "$update puts the new object in the place of every match",
      pets,
      { $update: [update(2, { age: 30 })] },
      false,
      [gus, { age: 30 }, { age: 30 }],
    ],
    [
      "$update merges when objects are merged",
      pets,
      { $update: [update(1, { name: "August", tags: { age: 4 } }), update(2, { age: 30 })] },
      true,
      [
        { id: 1, name: "August", tags: { size: "s", age: 4 } },
        { ...gerald, age: 30 },
        { ...geraldine, age: 30 },
      ],
    ],
    ["$update without a match", pets, { $update: [update(9, { x: 1 })] }, true, pets],
    [
      "one update after the other",
      [gus],
      { $update: [update(1, { id: 5 }), update(5, { name: "five" })] },
      true,
      [{ ...gus, id: 5, name: "five" }],
    ],
    [
      "removals and updates also reach what the same change adds",
      [gus, gerald],
      {
        $add: [
          { id: 2, name: "new" },
          { id: 1, name: "new" },
        ],
        $update: [update(1, { name: "changed" })],
        $remove: [identify(2)],
      },
      true,
      [
        { ...gus, name: "changed" },
        { id: 1, name: "changed" },
      ],
    ],
    [
      "what is removed is not updated",
      [gus],
      { $update: [update(1, {})], $remove: [identify(1)] },
      false,
      [],
    ],
    [
      "$add and $update of one id leave the updated object",
      [gus],
      { $add: [{ id: 2, name: "new" }], $update: [update(2, { name: "changed" })] },
      true,
      [gus, { id: 2, name: "changed" }],
    ],
    [
      "$add and $remove of one id leave neither the old nor the new object",
      [gus],
      { $add: [{ id: 1 }], $remove: [identify(1)] },
      false,
      [],
    ],
    [
      "a null in the array stays in its place",
      [null, gus, null],
      { $add: [gerald], $update: [update(1, { id: 1 })], $remove: [identify(2)] },
      false,
      [null, { id: 1 }, null],
    ],
    [
      "a list that is null is absent",
      [gus],
      { $add: [gerald], $update: null, $remove: null },
      false,
      [gus, gerald],
    ],
    ["$remove on nothing", undefined, { $remove: [identify(1)] }, false, undefined],
    ["$update on nothing", undefined, { $update: [update(1, { x: 1 })] }, true, undefined],
    ["no elements at all", undefined, { $add: [], $update: [], $remove: [] }, false, undefined],
    [
      "keys of the prototype match nothing",
      [gus],
      { $remove: [{ $identifier_key: "constructor", $identifier_value: 1 }] },
      false,
      [gus],
    ],
  ];
  for (const [what, before, change, merge, after] of table) {
    test(what, () => {
      assert.deepEqual(send(before, change, merge), after);
      assert.ok(needsCurrent(operationOf(change, merge)));
    });
  }

  test("a change of objects names each part that matched no object", () => {
    const change = {
      $add: [{ id: 7 }],
      $update: [update(9, { x: 1 }), update(7, { id: 8 }), update(7, { id: 9 }), update(8, {})],
      $remove: [identify(2), identify(3), identify(2)],
    };
    const applied = applyOperation(pets, operationOf(change));
    assert.ok("unmatched" in applied);
    assert.deepEqual(applied.unmatched, ["$update[0]", "$update[2]", "$remove[1]"]);
  });

  test("$add, $update and $remove are refused for anything but an array of objects", () => {
    for (const current of ["a", 1, { id: 1 }, ["a"], [1]]) {
      for (const change of [
        { $add: [gus] },
        { $remove: [identify(1)] },
        { $update: [update(1, gus)] },
      ]) {
        assert.equal(refusal(current, change), "NOT_AN_ARRAY");
      }
    }
  });

  test("an $add or $update that makes an array larger than 100 KB is refused", () => {
    const half = objectOfBytes(maxBytes / 2);
    assert.equal(refusal([half], { $add: [half] }), "OBJECT_TOO_LARGE");
    assert.equal(refusal(pets, { $update: [update(2, half)] }, true), "OBJECT_TOO_LARGE");
    assert.equal(refusal(pets, { $update: [update(2, half)] }), "OBJECT_TOO_LARGE");
    const exactly = objectOfBytes(maxBytes - 3 - JSON.stringify(gus).length);
    assert.deepEqual(send([gus], { $add: [exactly] }), [gus, exactly]);
    const oneMore = objectOfBytes(maxBytes - 2 - JSON.stringify(gus).length);
    assert.equal(refusal([gus], { $add: [oneMore] }), "OBJECT_TOO_LARGE");
  });

  test("shrinking one object makes room for growing another in the same $update", () => {
    const large = objectOfBytes(100_000);
    const pair = [{ ...large, id: 1 }, { id: 2 }];
    const after = send(pair, { $update: [update(1, { id: 1 }), update(2, large)] });
    assert.deepEqual(after, [{ id: 1 }, large]);
    assert.equal(refusal(pair, { $update: [update(2, large)] }), "OBJECT_TOO_LARGE");
  });

  test("one operation accepts 500 removals and 100 updates, and refuses a 101st update", () => {
    const removals = numbers(500).map((id) => identify(id));
    assert.deepEqual(send(pets, { $remove: removals }), []);
    const changes = numbers(100).map((id) => update(id, { id: id + 1 }));
    assert.deepEqual(send([{ id: 0 }], { $update: changes }), [{ id: 100 }]);
    const oneMore = { $update: [...changes, update(100, {})] };
    assert.equal(faultOf(checkCustomAttribute("a", oneMore, false))?.code, "ARRAY_TOO_LONG");
  });

  test("an $update that would exhaust memory is refused", () => {
    const many = Array.from({ length: 10_000 }, () => ({ id: 1 }));
    const large = { $update: [update(1, objectOfBytes(maxBytes))] };
    for (const merge of [false, true])
      assert.equal(refusal(many, large, merge), "OBJECT_TOO_LARGE");
  });
});

describe("_merge_objects", () => {
  type Row = readonly [before: Json | undefined, patch: JsonObject, after: Json];
  const table: readonly Row[] = [
    [undefined, { x: 1 }, { x: 1 }],
    [{ x: 1 }, { y: 2 }, { x: 1, y: 2 }],
    [{ x: { y: 1, z: [1] } }, { x: { z: [2] } }, { x: { y: 1, z: [2] } }],
    [{ x: 1 }, { x: { y: 1 } }, { x: { y: 1 } }],
    [{ x: { y: 1 } }, { x: 2 }, { x: 2 }],
    [{ x: [{ y: 1 }] }, { x: [{ z: 1 }] }, { x: [{ z: 1 }] }],
    [{ x: 1 }, {}, { x: 1 }],
    // a scalar or an array gives way to the object
    ["text", { x: 1 }, { x: 1 }],
    [[1], { x: 1 }, { x: 1 }],
    // a date is one value and is not merged with anything
    [
      { at: { $time: "2020-01-24" } },
      { at: { $time: "2021-01-24" } },
      { at: { $time: "2021-01-24" } },
    ],
    [{ at: { $time: "2020-01-24" } }, { at: { x: 1 } }, { at: { x: 1 } }],
    [{ at: { x: 1 } }, { at: { $time: "2020-01-24" } }, { at: { $time: "2020-01-24" } }],
    [{ $time: "2020-01-24" }, { x: 1 }, { x: 1 }],
    [{ x: 1 }, { $time: "2020-01-24" }, { $time: "2020-01-24" }],
    // names that objects have by birth are names like others
    [
      { x: 1 },
      { constructor: { prototype: { y: 1 } } },
      { x: 1, constructor: { prototype: { y: 1 } } },
    ],
    [{ x: 1 }, { toString: { y: 1 } }, { x: 1, toString: { y: 1 } }],
  ];
  for (const [before, patch, after] of table) {
    test(`merging ${shown(patch)} into ${shown(before)} gives ${shown(after)}`, () => {
      assert.deepEqual(send(before, patch, true), after);
    });
  }

  test("an object update requires the stored value only if it is merged", () => {
    assert.equal(needsCurrent(operationOf({ x: 1 }, true)), true);
    assert.equal(needsCurrent(operationOf({ x: 1 }, false)), false);
    for (const value of [1, "x", ["x"], [{ x: 1 }], null]) {
      assert.equal(needsCurrent(operationOf(value, true)), false);
    }
  });

  test("a merge that makes an object larger than 100 KB is refused", () => {
    assert.equal(
      refusal(objectOfBytes(maxBytes - 10), { other: "12345" }, true),
      "OBJECT_TOO_LARGE",
    );
  });

  test("a merge never changes an object's prototype", () => {
    const patch = parsed('{"__proto__":{"polluted":true}}') as JsonObject;
    const merged = applyOperation(patch, { kind: "mergeObject", name: "a", value: patch });
    assert.ok("value" in merged);
    assert.equal(Object.getPrototypeOf(merged.value), Object.prototype);
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
});
