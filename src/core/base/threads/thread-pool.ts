import { availableParallelism } from "node:os";
import { Tinypool } from "tinypool";
import { createFairLine } from "../fair-line.ts";
import { Problem } from "../problem.ts";
import { createCallGroups } from "./call-groups.ts";
import type { ThreadCall } from "./thread-entry.ts";

/*
 * Work that may take longer than a few milliseconds (HTML, Liquid, XLIFF) runs on a few threads beside
 * the event loop, with a deadline and a limit on memory. A thread that exceeds either is ended and
 * replaced, so no input can stop the server.
 *
 * How to use it. Put a plain function in a separate file. It takes and returns values that
 * `structuredClone` can copy (no functions, no class instances), and its file imports as little as
 * possible, since every thread loads it. Declare it, and run it on behalf of a workspace:
 *
 *     const RENDER = defineWork<typeof render>(import.meta.resolve("./render.js"), "render", 2_000);
 *     const result = await threads.run(RENDER, workspace.id, input);
 *
 * If calls are small and many, `defineGroupedWork` sends the calls of a workspace to a thread together;
 * the file exports `ofGroup(render)`.
 *
 * Return faults as values: an error arrives as a plain `Error` without its class. Keep deterministic
 * budgets inside the function, so that the same input always gets the same verdict; the deadline is for
 * what these do not foresee. A thread keeps its modules, and with them any cache they hold.
 */

/** A function that threads run: its file, and how long one call may take. */
export interface ThreadTask<Input, Output> {
  /** The URL of the compiled module. */
  readonly file: string;
  readonly name: string;
  /** From the start of the function on the thread, in milliseconds. */
  readonly deadlineMs: number;
  /** Whether the function takes several inputs and returns the outputs of the first ones (call-groups.ts). */
  readonly isGrouped?: boolean;
  /** Only for the compiler. */
  readonly signature?: (input: Input) => Output;
}

// biome-ignore lint/suspicious/noExplicitAny: any function may be declared; its types are kept.
export const defineWork = <Run extends (input: any) => unknown>(
  file: string,
  name: string,
  deadlineMs: number,
): ThreadTask<Parameters<Run>[0], Awaited<ReturnType<Run>>> => ({ file, name, deadlineMs });

/** Declares a function made with `ofGroup`. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export const defineGroupedWork = <Run extends (inputs: readonly any[]) => unknown[]>(
  file: string,
  name: string,
  deadlineMs: number,
): ThreadTask<Parameters<Run>[0][number], ReturnType<Run>[number]> => ({
  file,
  name,
  deadlineMs,
  isGrouped: true,
});

/** A call was ended because it exceeded the deadline or the memory of a thread. */
export class WorkExceeded extends Error {
  readonly budget: "time" | "memory";

  constructor(budget: "time" | "memory") {
    super(`A call on a thread exceeded its ${budget}.`);
    this.name = "WorkExceeded";
    this.budget = budget;
  }
}

export type ThreadPool = ReturnType<typeof createThreadPool>;

/** An idle thread ends after this time, with everything it has cached. */
const IDLE_AFTER_MS = 60_000;

const HEAP_LIMIT_MB = 192;

/** Calls of one owner that wait; beyond, they are refused. */
const MOST_WAITING = 200;

/** Two at least, so that an owner whose calls run into their deadline leaves one to the others. */
const threadsFor = (cores: number): number => Math.max(2, Math.min(4, cores - 1));

/** How long a thread may take to start and load a function. Generous, for busy machines. */
const START_MS = 60_000;

const ENTRY = import.meta.resolve("./thread-entry.js");

/** No thread is started before the first call. */
export function createThreadPool(size = threadsFor(availableParallelism())) {
  const pool = new Tinypool({
    runtime: "worker_threads",
    minThreads: 0,
    maxThreads: size,
    idleTimeout: IDLE_AFTER_MS,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT_MB },
  });
  const line = createFairLine({ places: size, mostWaiting: MOST_WAITING, refusal: tooManyWaiting });
  const groups = createCallGroups(MOST_WAITING, tooManyWaiting);

  function runGrouped<Input, Output>(
    work: ThreadTask<Input, Output>,
    owner: number | string,
    input: Input,
  ) {
    return groups.call(`${work.file} ${work.name} ${owner}`, input, {
      inTurn: (run) => line.run(owner, run),
      run: (inputs) => call(pool, work, inputs),
    }) as Promise<Output>;
  }

  return {
    /**
     * Runs a call on a thread. Workspaces take turns, and one of them never holds every thread.
     *
     * @param owner on whose behalf: the id of a workspace.
     * @throws WorkExceeded; Problem UNAVAILABLE if the owner has too many calls waiting; and what the
     *   function throws, as a plain Error.
     */
    run: <Input, Output>(
      work: ThreadTask<Input, Output>,
      owner: number | string,
      input: Input,
    ): Promise<Output> =>
      work.isGrouped
        ? runGrouped(work, owner, input)
        : line.run(owner, () => call(pool, work, input)),
    /** Ends all threads; calls that still run fail. */
    stop: () => pool.destroy(),
  };
}

/** @param input of a call, or the inputs of a group. */
async function call<Result>(
  pool: Tinypool,
  { file, name, deadlineMs }: Omit<ThreadTask<never, never>, "signature">,
  input: unknown,
): Promise<Result> {
  const begunAt = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
  const deadline = watchDeadline(begunAt, deadlineMs);
  try {
    const asked: ThreadCall = { file, name, input, begunAt };
    return await pool.run(asked, { filename: ENTRY, signal: deadline.signal });
  } catch (error) {
    if (deadline.signal.aborted) throw new WorkExceeded("time");
    const { code } = error as { code?: string };
    if (code === "ERR_WORKER_OUT_OF_MEMORY") throw new WorkExceeded("memory");
    throw error;
  } finally {
    deadline.end();
  }
}

const NS_PER_MS = 1_000_000;

/** A signal that a call has exceeded its deadline, and a function that ends the watch. */
function watchDeadline(begunAt: BigInt64Array, deadlineMs: number) {
  const controller = new AbortController();
  const askedAt = process.hrtime.bigint();
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const begun = Atomics.load(begunAt, 0);
    const [from, ms] = begun === 0n ? [askedAt, START_MS] : [begun, deadlineMs];
    const leftMs = ms - Number(process.hrtime.bigint() - from) / NS_PER_MS;
    if (leftMs <= 0) controller.abort();
    else timer = setTimeout(look, Math.min(leftMs, deadlineMs));
  };
  look();
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

const tooManyWaiting = (): Problem =>
  new Problem("UNAVAILABLE", "Too many pages of this workspace are waiting. Try again.", {
    retryAfterSeconds: 1,
  });
