import type { SourceRow } from "./sources/source.ts";

/** How much one transaction takes: enough to be worth its round trips, little enough for memory. */
const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4 * 1_048_576;

/** Rows as they come from a source, in portions of the size that is written at once. */
export async function* inBatches(
  pages: AsyncIterable<readonly SourceRow[]>,
): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const row of page) {
      batch.push(row);
      bytes += row.payloadBytes;
      if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Fetches the next portion while the previous one is processed. */
export async function* ahead<Portion>(portions: AsyncIterable<Portion>): AsyncGenerator<Portion> {
  const iterator = portions[Symbol.asyncIterator]();
  const fetchNext = () => {
    const next = iterator.next();
    // It may fail before it is awaited.
    next.catch(() => {});
    return next;
  };
  let next = fetchNext();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = fetchNext();
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await iterator.return?.();
  }
}
