/** What must be undone at the end, however that comes about; the last thing first. */
export interface CleanUp {
  add(undo: () => Promise<unknown>): void;
  /** Undoes everything; what fails is told and does not stop the rest. */
  run(): Promise<void>;
}

export function createCleanUp(): CleanUp {
  const todo: (() => Promise<unknown>)[] = [];
  return {
    add: (undo) => void todo.push(undo),
    async run() {
      for (let undo = todo.pop(); undo; undo = todo.pop()) {
        await undo().catch((error: Error) => process.stderr.write(`${error.message}\n`));
      }
    },
  };
}
