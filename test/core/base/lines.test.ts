/* The ends of lines, for any content and any chunks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { csvLineEnds, linesOf, textLinesOf } from "../../../src/core/base/lines.ts";
import { AWKWARD_CHARACTERS, LONG_TEXT } from "../../awkward-text.ts";

/** Bytes in pieces of a number of bytes. */
function* inPieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const read = (text: string, size: number, longest?: number) =>
  all(linesOf(inPieces(Buffer.from(text), size), longest));

describe("lines", () => {
  test("a line ends at a line feed alone, wherever the pieces of the stream are cut", async () => {
    const line = fc
      .array(fc.oneof(fc.constantFrom(...AWKWARD_CHARACTERS), fc.string()), { maxLength: 5 })
      .map((parts) => parts.join("").replaceAll("\n", ""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (lines, size, isEnded) => {
          const text = lines.map((each) => `${each}\n`).join("");
          const given = isEnded ? text : text.replace(/\n$/, "");
          const whole = isEnded || lines.at(-1) !== "" ? lines : lines.slice(0, -1);
          const found = await read(given, size);
          assert.deepEqual(
            found.map(({ bytes }) => bytes?.toString()),
            whole.map((each) => Buffer.from(each).toString()),
          );
          assert.deepEqual(
            found.map(({ number }) => number),
            whole.map((_, index) => index + 1),
          );
          assert.equal(found.at(-1)?.endsAt ?? 0, Buffer.byteLength(given));
        },
      ),
    );
  });

  test("a line of a megabyte is read whole", async () => {
    const found = await read(`a\n${LONG_TEXT}\nb`, 65_536);
    assert.deepEqual(
      found.map(({ bytes }) => bytes?.toString()),
      ["a", LONG_TEXT, "b"],
    );
  });

  test("a line over the limit has no bytes, and the lines around it are whole", async () => {
    const found = await read("one\n123456\n12345\nlonger", 4, 5);
    assert.deepEqual(
      found.map(({ number, bytes }) => [number, bytes?.toString()]),
      [
        [1, "one"],
        [2, undefined],
        [3, "12345"],
        [4, undefined],
      ],
    );
  });

  test("text with a line over 64 MiB is refused with the number of the line, and is never held whole", async () => {
    const piece = Buffer.alloc(1_048_576, "x");
    let given = 0;
    function* endless(): Generator<Buffer> {
      yield Buffer.from("first\n");
      while (given++ < 200) yield piece;
    }
    const before = process.memoryUsage().arrayBuffers;
    await assert.rejects(
      all(textLinesOf("users.ndjson", endless())),
      /^Error: Line 2 of users\.ndjson is longer than 64 MiB\.$/,
    );
    assert.ok(process.memoryUsage().arrayBuffers - before < 100 * 1_048_576);
  });
});

test("rows of a CSV file end at lone carriage returns only if its header does", () => {
  const ends: [beginning: string, ends: string[]][] = [
    ["a,b\n1,x\ry", ["\r\n", "\n"]],
    ["a,b\r\n1,2\n", ["\r\n", "\n"]],
    ['"a\rx",b\n', ["\r\n", "\n"]],
    ["a,b", ["\r\n", "\n"]],
    ["a,b\r1,2\r", ["\r"]],
  ];
  for (const [beginning, expected] of ends) assert.deepEqual(csvLineEnds(beginning), expected);
});
