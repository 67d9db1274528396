/* The entry of every call on a thread of the pool (thread-pool.ts). */

export interface ThreadCall {
  readonly file: string;
  readonly name: string;
  readonly input: unknown;
  /** One number, shared: when the function began, as `process.hrtime.bigint()`; 0 before. */
  readonly begunAt: BigInt64Array;
}

/** Loads the module, notes that the function begins, and runs it. */
export default async function runCall({ file, name, input, begunAt }: ThreadCall) {
  const { [name]: run } = await import(file);
  Atomics.store(begunAt, 0, process.hrtime.bigint());
  return run(input);
}
