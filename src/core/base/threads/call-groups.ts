/*
 * Small calls of one owner go to a thread together: waking a thread and copying to it take longer than most of
 * them. While one group runs, the next one gathers.
 */

/** Few enough that copying them to a thread does not delay other work. */
const MOST_TOGETHER = 16;

/** How long a thread works on a group. The rest waits for its owner's next turn. */
const SLICE_MS = 20;

/**
 * For the thread: turns a function into one that takes a group and works on it until its slice is
 * over.
 */
export const ofGroup =
  <Input, Output>(run: (input: Input) => Output) =>
  (inputs: readonly Input[]): Output[] => {
    const startedAt = performance.now();
    const outputs: Output[] = [];
    for (const input of inputs) {
      outputs.push(run(input));
      if (performance.now() - startedAt > SLICE_MS) break;
    }
    return outputs;
  };

interface Call {
  readonly input: unknown;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

/** How the calls of a group are run. */
export interface GroupRunner {
  /** Waits for the owner's turn. */
  inTurn(work: () => Promise<void>): Promise<void>;
  /** @returns the outputs of the first inputs, of one at least. */
  run(inputs: readonly unknown[]): Promise<readonly unknown[]>;
}

export function createCallGroups(mostWaiting: number, refusal: () => Error) {
  const waiting = new Map<string, Call[]>();

  function begin(key: string, calls: Call[], runner: GroupRunner): void {
    waiting.set(key, calls);
    runner
      .inTurn(() => runFirst(key, calls, runner))
      .catch((error) => {
        waiting.delete(key);
        for (const { reject } of calls) reject(error);
      });
  }

  async function runFirst(key: string, calls: Call[], runner: GroupRunner): Promise<void> {
    const group = calls.splice(0, MOST_TOGETHER);
    if (calls.length > 0) begin(key, calls, runner);
    else waiting.delete(key);
    const outputs = await runner.run(group.map(({ input }) => input)).catch((error) => {
      if (group.length === 1) group[0]?.reject(error);
      // One of them is to blame. It fails alone, without failing others.
      else for (const each of group) runAlone(each, runner);
      return undefined;
    });
    if (!outputs) return;
    for (const [index, output] of outputs.entries()) group[index]?.resolve(output);
    const left = group.slice(outputs.length);
    const next = waiting.get(key);
    if (next) next.unshift(...left);
    else if (left.length > 0) begin(key, left, runner);
  }

  function runAlone({ input, resolve, reject }: Call, { inTurn, run }: GroupRunner): void {
    inTurn(async () => resolve((await run([input]))[0])).catch(reject);
  }

  return {
    /** @param key the same for calls that go together. @throws the refusal where too many of them wait. */
    call: (key: string, input: unknown, runner: GroupRunner) =>
      new Promise((resolve, reject) => {
        const call = { input, resolve, reject };
        const group = waiting.get(key);
        if (!group) begin(key, [call], runner);
        else if (group.length < mostWaiting) group.push(call);
        else reject(refusal());
      }),
  };
}
