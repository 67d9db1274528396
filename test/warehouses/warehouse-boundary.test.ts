/*
 * The rule of the boundary (src/features/warehouses/boundary.ts) against a model: with late rows and
 * interrupted readings every row is applied exactly once, and rows with the same content are
 * different rows.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  type BoundaryCount,
  hashesAt,
  rowHash,
  sift,
} from "../../src/features/warehouses/boundary.ts";
import { BEGINNING, type SourceRow } from "../../src/features/warehouses/sources/source.ts";

/** A row of one of few times and few contents, so that they meet often. */
const rowAt = (second: number, content: number): SourceRow => ({
  updatedAt: `2026-01-01T00:00:0${second}.000000Z`,
  identifiers: { external_id: "u" },
  payload: String(content),
  payloadBytes: 1,
});

/** The database's state between transactions, and every applied row. */
interface Kept {
  through: string;
  readonly counts: Map<string, BoundaryCount & { readonly seenBy: number }>;
  readonly taken: SourceRow[];
}

/** Reads rows in portions, and stops after some of them. */
function readAll(
  kept: Kept,
  rows: readonly SourceRow[],
  { reading, portion, portions }: { reading: number; portion: number; portions: number },
): void {
  const inRange = rows
    .filter((row) => row.updatedAt >= kept.through)
    .sort((one, other) => (one.updatedAt < other.updatedAt ? -1 : 1));
  for (let done = 0; done < portions && done * portion < inRange.length; done++) {
    const batch = inRange.slice(done * portion, (done + 1) * portion);
    const known = new Map(
      hashesAt(batch, kept.through).flatMap((hash) => {
        const count = kept.counts.get(hash);
        if (!count) return [];
        return [[hash, { ...count, seen: count.seenBy === reading ? count.seen : 0 }] as const];
      }),
    );
    const { fresh, boundary } = sift(batch, kept.through, known);
    if (boundary.hasMoved) kept.counts.clear();
    for (const [hash, count] of boundary.counts) {
      kept.counts.set(hash, { ...count, seenBy: reading });
    }
    kept.through = boundary.through;
    kept.taken.push(...fresh);
  }
}

const contentsOf = (rows: readonly SourceRow[]): string[] =>
  rows.map((row) => `${row.updatedAt} ${row.payload}`).sort();

const aContent = fc.integer({ min: 0, max: 2 });

describe("the watermark of a sync", () => {
  test("every row is synced exactly once, however late rows arrive and wherever a read is interrupted", () => {
    const aStep = fc.record({
      // Rows that the warehouse gets before this reading: at the boundary, or later than it.
      late: fc.array(aContent, { maxLength: 4 }),
      later: fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), aContent), { maxLength: 6 }),
      portion: fc.integer({ min: 1, max: 5 }),
      portions: fc.integer({ min: 0, max: 6 }),
    });
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 12 }), (steps) => {
        const kept: Kept = { through: BEGINNING, counts: new Map(), taken: [] };
        const warehouse: SourceRow[] = [];
        let reading = 0;
        for (const { late, later, ...reach } of steps) {
          const boundary = kept.through === BEGINNING ? 0 : Number(kept.through.slice(18, 19));
          warehouse.push(
            ...late.map((content) => rowAt(boundary, content)),
            ...later.map(([second, content]) => rowAt(Math.min(9, boundary + second), content)),
          );
          readAll(kept, warehouse, { reading: ++reading, ...reach });
        }
        readAll(kept, warehouse, { reading: ++reading, portion: 3, portions: 1_000 });
        assert.deepEqual(contentsOf(kept.taken), contentsOf(warehouse));
      }),
      { numRuns: 2_000 },
    );
  });

  test("rows are distinguished by their identifiers, their payload and its size", () => {
    const row = rowAt(1, 1);
    const others: SourceRow[] = [
      { ...row, payload: "2" },
      { ...row, payload: null },
      { ...row, payloadBytes: 2_000_000, payload: null },
      { ...row, identifiers: { external_id: "v" } },
      { ...row, identifiers: { email: "u" } },
    ];
    assert.equal(new Set([row, ...others].map(rowHash)).size, 6);
    assert.equal(rowHash({ ...row, updatedAt: "other" }), rowHash(row));
  });
});
