/** Undoes everything at the end, in reverse order, however the run ends. */
export interface CleanUp {
  add(undo: () => Promise<unknown>): void;
  /** Undoes everything, once, however often it is called; failures are reported and do not stop the rest. */
  run(): Promise<void>;
}

export function createCleanUp(): CleanUp {
  const todo: (() => Promise<unknown>)[] = [];
  let running: Promise<void> | undefined;

  async function undoAll(): Promise<void> {
    for (let undo = todo.pop(); undo; undo = todo.pop()) {
      await undo().catch((error: Error) => process.stderr.write(`${error.message}\n`));
    }
  }

  return {
    add: (undo) => void todo.push(undo),
    run() {
      running ??= undoAll();
      return running;
    },
  };
}
