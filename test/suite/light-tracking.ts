/*
 * To know which test a call of `after()` or an uncaught error belongs to, Node's test runner follows every promise of its process with
 * async hooks: a tenth of the processor time of the suite. `AsyncLocalStorage` knows the same for less. Loaded before anything
 * else loads `node:test`, this gives the runner, and nothing else, another `async_hooks`: light-tracking.test.ts compares both. They
 * differ where a test has waited for something that was begun outside it: for Node it is outside from then on.
 */
import asyncHooks, {
  AsyncLocalStorage,
  AsyncResource,
  type AsyncResourceOptions,
  createHook,
  executionAsyncId,
  type HookCallbacks,
} from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

/** The id of the test, suite or hook that runs. */
const current = new AsyncLocalStorage<number>();
const currentId = (): number => current.getStore() ?? executionAsyncId();

let note: HookCallbacks["init"];

/** What the runner makes of each test. It takes them from its hook's `init`. */
class Tracked extends AsyncResource {
  constructor(type: string, options?: number | AsyncResourceOptions) {
    super(type, options);
    if (type === "Test") note?.(this.asyncId(), type, currentId(), this);
  }

  override runInAsyncScope<This, Result>(
    run: (this: This, ...args: any[]) => Result,
    thisArg?: This,
    ...args: any[]
  ): Result {
    return super.runInAsyncScope(() =>
      current.run(this.asyncId(), () => Reflect.apply(run, thisArg, args)),
    );
  }
}

Object.assign(asyncHooks, {
  AsyncResource: Tracked,
  executionAsyncId: currentId,
  createHook: (callbacks: HookCallbacks) => {
    note = callbacks.init;
    return { enable: () => {}, disable: () => {} };
  },
});
await import("node:test");
Object.assign(asyncHooks, { AsyncResource, executionAsyncId, createHook });
syncBuiltinESMExports();
