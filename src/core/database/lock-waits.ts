import { setTimeout as sleep } from "node:timers/promises";
import { isLocked, isUnavailable, TABLE_LOCK_MS } from "./database.ts";
import {
  type Aside,
  type Attempt,
  createLockLine,
  type LockLine,
  type WaitingCall,
} from "./lock-line.ts";
import { LOCK_AGAIN_MS, LOCK_MS } from "./people-lock.ts";

/**
 * Calls whose transaction met a lock that another transaction holds for long: they wait aside, without a transaction,
 * until the lock is free. All others go on (docs/decisions/waiting-for-locks.md).
 */
export type LockWaits<Call, One extends WaitingCall<Call>> = ReturnType<
  typeof createLockWaits<Call, One>
>;

interface Options<Call> {
  /** The users that a call writes, by any name. */
  keysOf(call: Call): readonly string[];
  /** Which of these users another transaction has locked. @throws an error that `isLocked` if a table is. */
  findLocked(workspaceId: number, calls: readonly Call[]): Promise<ReadonlySet<string>>;
  /** How long a call waits in all, in ms. */
  readonly patienceMs: number;
  /** Whether a whole table is locked: then it waits only `TABLE_LOCK_MS`. */
  areTablesLocked(): Promise<boolean>;
}

/** How long a transaction waits while some lock is known to be held for long, and for how long it must be. */
const BRIEF_LOCK_MS = 40;
const LONG_HELD_MS = 500;

/** Between two looks at the locks. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;

/** How much one look takes, and how many transactions it may cost to find out which call meets a lock. */
const MOST_AT_A_LOOK = 2_000;
const TRIES_OF_A_LOOK = 24;

export function createLockWaits<Call, One extends WaitingCall<Call>>(options: Options<Call>) {
  const { keysOf } = options;
  const lines = new Map<number, LockLine<One>>();
  let isLooking = false;
  let wake = () => {};

  async function lookUntilEmpty(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    let pauseMs = FIRST_PAUSE_MS;
    while (lines.size > 0) {
      let isDone = false;
      for (const [workspaceId, line] of [...lines]) {
        isDone = (await lookAt(workspaceId, line, options)) || isDone;
        if (!line.isEmpty()) await refuseLate(line, options);
        if (line.isEmpty()) lines.delete(workspaceId);
      }
      if (isDone) pauseMs = FIRST_PAUSE_MS;
      else if (lines.size > 0) await pause(pauseMs);
      pauseMs = Math.min(1.5 * pauseMs, LONGEST_PAUSE_MS);
    }
    isLooking = false;
  }

  const pause = (ms: number) =>
    Promise.race([
      sleep(ms),
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
    ]);

  return {
    /** Whether a call names a user for whom another one waits. */
    isAwaited(workspaceId: number, call: Call) {
      const line = lines.get(workspaceId);
      return line !== undefined && !line.isEmpty() && line.names(keysOf(call));
    },
    /** How long a transaction waits for a lock before its calls are set aside, in ms. */
    lockMs() {
      const now = performance.now();
      for (const line of lines.values()) {
        if (!line.isEmpty() && now - line.first().one.since > LONG_HELD_MS) return BRIEF_LOCK_MS;
      }
      return LOCK_MS;
    },
    /** Sets those calls aside that share a user with one that waits, so that each user's writes keep their order. @returns the others. */
    divert(calls: readonly One[]) {
      const line = calls[0] && lines.get(calls[0].workspaceId);
      if (!line || line.isEmpty()) return calls;
      const { attempt, error } = line.first();
      return calls.filter((one) => {
        const keys = keysOf(one.call);
        if (!line.isBlocked && !line.names(keys)) return true;
        line.add({ one, keys, attempt, error, failedAlone: false });
        return false;
      });
    },
    /** Sets calls aside whose transaction met a lock. */
    setAside(calls: readonly One[], attempt: Attempt<One>, error: unknown) {
      for (const one of calls) {
        const line = lines.get(one.workspaceId) ?? createLockLine<One>();
        lines.set(one.workspaceId, line);
        line.add({ one, keys: keysOf(one.call), attempt, error, failedAlone: false });
      }
      wake();
      void lookUntilEmpty();
    },
  };
}

/** Refuses calls that have waited too long. While a whole table is locked, that is soon, and the lanes try nothing. */
async function refuseLate<Call, One extends WaitingCall<Call>>(
  line: LockLine<One>,
  { patienceMs, areTablesLocked }: Options<Call>,
): Promise<void> {
  const waitsLong = performance.now() - line.first().one.since >= LONG_HELD_MS;
  line.isBlocked = waitsLong && (await areTablesLocked().catch(() => false));
  line.refuseLate(line.isBlocked ? Math.min(TABLE_LOCK_MS, patienceMs) : patienceMs);
}

/** Writes all calls of a line that meet no lock, and refuses some that have waited too long. @returns whether one is done. */
async function lookAt<Call, One extends WaitingCall<Call>>(
  workspaceId: number,
  line: LockLine<One>,
  { findLocked, patienceMs }: Options<Call>,
): Promise<boolean> {
  const some = line.some(MOST_AT_A_LOOK);
  const look: Look<One> = {
    line,
    patienceMs,
    triesLeft: TRIES_OF_A_LOOK,
    // One call of many is found after so many halves.
    missesInARow: Math.ceil(Math.log2(some.length)) + 2,
    misses: 0,
    done: 0,
    kept: new Set(),
  };
  const calls = some.map(({ one }) => one.call);
  const locked = await findLocked(workspaceId, calls).catch((error) => {
    // A whole table is locked, and nothing can be written.
    if (isLocked(error)) look.triesLeft = 0;
    return new Set<string>();
  });
  const { ready, doubtful } = line.choose(some, locked);
  await tryAll(ready, look);
  await tryAll(doubtful, look);
  return look.done > 0;
}

interface Look<One extends WaitingCall<unknown>> {
  readonly line: LockLine<One>;
  readonly patienceMs: number;
  triesLeft: number;
  /** After how many tries without success it gives up: something is locked that all of them need. */
  readonly missesInARow: number;
  misses: number;
  /** How many calls have their result. */
  done: number;
  /** Keys of calls that met a lock: those after them that share one must not overtake them. */
  readonly kept: Set<string>;
}

/** Tries calls together, and in halves if they meet a lock. */
async function tryAll<One extends WaitingCall<unknown>>(
  all: readonly Aside<One>[],
  look: Look<One>,
): Promise<void> {
  const { line, kept } = look;
  line.refuseLate(look.patienceMs);
  const part = all.filter((each) => line.has(each) && !each.keys.some((key) => kept.has(key)));
  const [first] = part;
  if (!first) return;
  const keepAll = () => {
    for (const { keys } of part) for (const key of keys) kept.add(key);
  };
  if (look.triesLeft-- <= 0 || look.misses >= look.missesInARow) return keepAll();
  try {
    await first.attempt(
      part.map(({ one }) => one),
      LOCK_AGAIN_MS,
    );
    for (const each of part) line.remove(each);
    look.done += part.length;
    look.misses = 0;
  } catch (error) {
    look.misses++;
    if (part.length > 1 && (isLocked(error) || !isUnavailable(error))) {
      const half = Math.ceil(part.length / 2);
      await tryAll(part.slice(0, half), look);
      await tryAll(part.slice(half), look);
      return;
    }
    for (const each of part) each.error = error;
    if (isLocked(error)) {
      first.failedAlone = true;
      keepAll();
    } else {
      for (const each of part) line.refuse(each);
      look.done += part.length;
    }
  }
}
