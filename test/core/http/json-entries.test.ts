/* A large body that is parsed entry by entry is read as JSON.parse reads it, and refused if that refuses it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../../src/core/base/problem.ts";
import { parseEntries, splitEntries } from "../../../src/core/http/json-entries.ts";

/** @returns the value, or "refused". */
async function inEntries(text: string): Promise<unknown> {
  try {
    const bytes = Buffer.from(text);
    const split = splitEntries(bytes, 100_000);
    assert.ok(split);
    return { value: await parseEntries(bytes, split) };
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return "refused";
  }
}

function atOnce(text: string): unknown {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return "refused";
  }
}

describe("a body that is parsed entry by entry", () => {
  test("has the value that JSON.parse gives it, whatever JSON it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 5 }), fc.nat(3), async (text, spaces) => {
        const body = JSON.stringify(JSON.parse(text), undefined, spaces);
        assert.deepEqual(await inEntries(body), atOnce(body));
      }),
      { numRuns: 500 },
    );
  });

  test("is refused exactly when JSON.parse refuses it, however brackets, commas and quotes are mixed", async () => {
    const tokens = ["{", "}", "[", "]", ",", ":", '"a"', '"b"', "1", " ", '"', "\\", "null", "{}"];
    const mixed = fc
      .array(fc.constantFrom(...tokens), { maxLength: 14 })
      .map((parts) => parts.join(""));
    const nearlyJson = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.constantFrom(...tokens))
      .map(([json, at, token]) => {
        const place = at % (json.length + 1);
        return `{"a":[${json.slice(0, place)}${token}${json.slice(place + 1)}]}`;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(mixed, nearlyJson), async (text) => {
        assert.deepEqual(await inEntries(text), atOnce(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("keeps the last of two lists with one name, and __proto__ as plain data", async () => {
    for (const text of [
      '{"a":[1,2],"a":[3]}',
      '{"__proto__":[{"__proto__":1}],"b":[[]]}',
      '\n{ "a" : [ ] , "b" : [ {} , [] ] }',
      '[[1,[2]],{"a":[3]}]',
    ]) {
      assert.deepEqual(await inEntries(text), atOnce(text));
    }
  });

  test("may have many values in each entry, but neither in one entry nor outside of them more than the limit", () => {
    const list = (length: number) => `[${Array(length).fill("1").join()}]`;
    const split = (text: string) => splitEntries(Buffer.from(text), 100);
    assert.ok(split(`{"a":[${Array(50).fill(list(90)).join()}]}`));
    assert.equal(split(`{"a":[1,${list(110)}]}`), undefined);
    assert.ok(split(`{"a":${list(10_000)}}`));
    assert.equal(split(`{"a":${list(10_001)}}`), undefined);
    assert.equal(split(`{"a":{"b":${list(110)}}}`), undefined);
  });
});
