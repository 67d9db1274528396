import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../../../../src/core/base/values/plain-json.ts";
import {
  applyOperation,
  checkCustomAttribute,
  needsCurrent,
} from "../../../../src/core/people/profiles/custom-attributes.ts";
import { operationOf, send } from "./custom-attribute-values.ts";

const keys = fc.constantFrom("x", "y", "z", "constructor", "toString");
const scalars = fc.oneof(
  fc.constantFrom("a", "b", "1", 1, 2, true),
  fc.maxSafeInteger(),
  fc.string(),
);
const nestedValues = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.array(scalars, { maxLength: 3 }),
    fc.array(tie("object"), { maxLength: 3 }),
    fc.constant({ $time: "2020-01-24" }),
    tie("object"),
  ),
  object: fc.dictionary(keys, tie("value"), { maxKeys: 4, noNullPrototype: true }),
}));
const objects = nestedValues.object;
const identifiers = fc.record({ $identifier_key: keys, $identifier_value: scalars });
const updates = fc.record({
  $identifier_key: keys,
  $identifier_value: scalars,
  $new_object: objects,
});

/** Anything that a request can ask for. */
const requested: fc.Arbitrary<Json> = fc.oneof(
  nestedValues.value,
  fc.constant(null),
  fc.record({ inc: fc.maxSafeInteger() }),
  fc.record({ add: fc.array(scalars), remove: fc.array(scalars) }, { requiredKeys: ["add"] }),
  fc.record({ remove: fc.array(scalars) }),
  fc.record({
    $add: fc.array(objects),
    $update: fc.array(updates),
    $remove: fc.array(identifiers),
  }),
);
const scalarSets = fc.uniqueArray(scalars, { selector: (value) => value });

describe("custom attribute operations on generated values", () => {
  test("applying a custom attribute operation is deterministic and never changes its inputs", () => {
    const states = fc.option(nestedValues.value, { nil: undefined });
    fc.assert(
      fc.property(states, requested, fc.boolean(), (current, value, mergeObjects) => {
        const before = JSON.stringify([current, value]);
        const operation = operationOf(value, mergeObjects);
        const outcome = applyOperation(current, operation);
        assert.equal(JSON.stringify([current, value]), before);
        if (!("value" in outcome) || outcome.value === undefined) return;
        assert.deepEqual(outcome, applyOperation(current, operation));
        if (needsCurrent(operation)) return;
        assert.deepEqual(outcome, applyOperation(undefined, operation));
      }),
      { numRuns: 500 },
    );
  });

  test("checking and applying a custom attribute never throws for any JSON value", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.jsonValue(),
        fc.jsonValue(),
        fc.boolean(),
        (name, value, current, merge) => {
          const outcome = checkCustomAttribute(name, value, merge);
          if ("value" in outcome) applyOperation(current as Json, outcome.value);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("an object that is set as a custom attribute reads back exactly as sent", () => {
    fc.assert(
      fc.property(nestedValues.object, (value) => {
        assert.deepEqual(send("before", value), value);
      }),
    );
  });

  test("adding to an array attribute is idempotent, keeps the existing order and appends only missing values", () => {
    fc.assert(
      fc.property(scalarSets, scalarSets, (current, added) => {
        const once = send(current, { add: added });
        assert.deepEqual(send(once, { add: added }), once);
        const missing = added.filter((value) => !current.includes(value));
        assert.deepEqual(once, [...current, ...missing]);
      }),
    );
  });

  test("removing values from an array attribute removes exactly those values", () => {
    fc.assert(
      fc.property(scalarSets, scalarSets, (current, values) => {
        const after = send(send(current, { add: values }), { remove: values });
        assert.deepEqual(
          after,
          current.filter((value) => !values.includes(value)),
        );
      }),
    );
  });

  test("increments of an attribute add up to the same sum in any order", () => {
    const amounts = fc.array(fc.integer());
    fc.assert(
      fc.property(amounts, (all) => {
        const sum = (list: readonly number[]) =>
          list.reduce<Json | undefined>((before, by) => send(before, { inc: by }), undefined);
        assert.equal(sum(all), sum(all.toReversed()));
        assert.equal(
          sum(all) ?? 0,
          all.reduce((total, by) => total + by, 0),
        );
      }),
    );
  });

  test("a deep merge of objects is idempotent, keeps unrelated keys and contains every key of the patch", () => {
    fc.assert(
      fc.property(objects, objects, (current, patch) => {
        const merged = send(current, patch, true) as JsonObject;
        assert.deepEqual(send(merged, patch, true), merged);
        for (const [key, value] of Object.entries(current)) {
          if (!Object.hasOwn(patch, key)) assert.deepEqual(merged[key], value);
        }
        const both = new Set([...Object.keys(current), ...Object.keys(patch)]);
        assert.deepEqual(new Set(Object.keys(merged)), both);
      }),
    );
  });

  test("$remove removes every matching object of an array and no other", () => {
    fc.assert(
      fc.property(fc.array(objects), identifiers, (current, identifier) => {
        const { $identifier_key: key, $identifier_value: value } = identifier;
        const isMatch = (object: JsonObject) => Object.hasOwn(object, key) && object[key] === value;
        const after = send(current, { $remove: [identifier] });
        assert.deepEqual(
          after,
          current.filter((object) => !isMatch(object)),
        );
      }),
    );
  });
});
