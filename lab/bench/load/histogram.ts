/*
 * Latencies, counted in buckets that are each 1 % wider than the previous one: small enough to be
 * passed between processes and added up, exact to 1 %.
 */

const FIRST_MS = 0.01;
const GROWTH = 1.01;
const LOG_GROWTH = Math.log(GROWTH);

/** How many latencies fell into each bucket; trailing empty ones are left out. */
export type Histogram = number[];

export function record(histogram: Histogram, latencyMs: number): void {
  const bucket = Math.max(0, Math.ceil(Math.log(latencyMs / FIRST_MS) / LOG_GROWTH));
  while (histogram.length <= bucket) histogram.push(0);
  histogram[bucket] = (histogram[bucket] as number) + 1;
}

export function sumOf(histograms: readonly Histogram[]): Histogram {
  const sum: Histogram = [];
  for (const histogram of histograms) {
    for (const [bucket, count] of histogram.entries()) sum[bucket] = (sum[bucket] ?? 0) + count;
  }
  return sum;
}

/** The latency in milliseconds that this share of all did not exceed; 0 if there are none. */
export function percentile(histogram: Histogram, share: number): number {
  const wanted = histogram.reduce((sum, count) => sum + count, 0) * share;
  let seen = 0;
  for (const [bucket, count] of histogram.entries()) {
    seen += count;
    if (count > 0 && seen >= wanted) return FIRST_MS * GROWTH ** bucket;
  }
  return 0;
}
