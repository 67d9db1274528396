/** A call that waits for its result. */
export interface WaitingCall<Call> {
  readonly workspaceId: number;
  readonly call: Call;
  /** How much of a transaction it takes. */
  readonly size: number;
  /** When it came, of `performance.now()`. */
  readonly since: number;
  reject(error: unknown): void;
}

/**
 * Runs calls of one workspace in one transaction and gives each its result.
 *
 * @param lockMs how long the transaction waits for a lock.
 * @throws if the transaction failed: no call has a result then.
 */
export type Attempt<One> = (calls: readonly One[], lockMs: number) => Promise<void>;

/** A call that was set aside because of a lock. */
export interface Aside<One> {
  readonly one: One;
  /** The users that it writes, by any name. */
  readonly keys: readonly string[];
  readonly attempt: Attempt<One>;
  /** Why it waits. */
  error: unknown;
  /** Whether it met a lock while it was tried alone, though no user of it was known to be locked. */
  failedAlone: boolean;
  /** Since when it keeps others back. */
  inTheWaySince?: number;
}

/** The waiting calls of one workspace, in the order of arrival. Calls that name the same user keep their order. */
export type LockLine<One extends WaitingCall<unknown>> = ReturnType<typeof createLockLine<One>>;

interface Choice<One> {
  readonly ready: readonly Aside<One>[];
  readonly doubtful: readonly Aside<One>[];
}

/**
 * Once a user has been locked for so long, a call that waits for it keeps others back that need no lock, only another user
 * that it names, for at most so long. Then it is refused. Two servers that write the same users wait for each other less.
 */
const LOCKED_FOR_MS = 2_000;
const MOST_IN_THE_WAY_MS = 100;

export function createLockLine<One extends WaitingCall<unknown>>() {
  const all = new Set<Aside<One>>();
  /** How many name each key. */
  const named = new Map<string, number>();
  /** Since when the users of these keys are locked. */
  const lockedSince = new Map<string, number>();

  function remove(aside: Aside<One>): void {
    if (!all.delete(aside)) return;
    for (const key of aside.keys) {
      const left = (named.get(key) ?? 1) - 1;
      if (left > 0) named.set(key, left);
      else named.delete(key);
    }
  }

  /** Removes a call and tells its caller why it waited. */
  function refuse(aside: Aside<One>): void {
    remove(aside);
    aside.one.reject(aside.error);
  }

  /** Whether a call keeps others back and waits for a user that is locked for long. */
  function isToBeRefused(aside: Aside<One>): boolean {
    const now = performance.now();
    aside.inTheWaySince ??= now;
    return (
      now - aside.inTheWaySince >= MOST_IN_THE_WAY_MS &&
      aside.keys.some((key) => now - (lockedSince.get(key) ?? now) >= LOCKED_FOR_MS)
    );
  }

  return {
    /** Whether nothing of this workspace can be written at present. */
    isBlocked: false,
    isEmpty: () => all.size === 0,
    has: (aside: Aside<One>) => all.has(aside),
    /** The earliest of all. */
    first: () => all.values().next().value as Aside<One>,
    /** As many of the earliest as `most` allows. */
    some(most: number) {
      const some: Aside<One>[] = [];
      let size = 0;
      for (const aside of all) {
        size += aside.one.size;
        if (some.length > 0 && size > most) break;
        some.push(aside);
      }
      return some;
    },
    add(aside: Aside<One>) {
      all.add(aside);
      for (const key of aside.keys) named.set(key, (named.get(key) ?? 0) + 1);
    },
    remove,
    refuse,
    /** Refuses all calls that have waited longer than this. None of them is being tried. */
    refuseLate(patienceMs: number) {
      const now = performance.now();
      for (const aside of all) if (now - aside.one.since >= patienceMs) refuse(aside);
    },
    /** Whether one that waits names a user of these. */
    names: (keys: readonly string[]) => keys.some((key) => named.has(key)),
    /**
     * Chooses which calls to try: those that name no locked user, and no user of an earlier call that waits.
     *
     * @returns also those to try after them, because they have met a lock that belongs to no user.
     */
    choose(some: readonly Aside<One>[], locked: ReadonlySet<string>) {
      const now = performance.now();
      for (const key of lockedSince.keys()) if (!locked.has(key)) lockedSince.delete(key);
      for (const key of locked) if (!lockedSince.has(key)) lockedSince.set(key, now);
      return chosen(some, locked, (aside) => {
        if (!isToBeRefused(aside)) return false;
        refuse(aside);
        return true;
      });
    },
  };
}

/** @param gives whether an earlier call gives way to a later one. */
function chosen<One>(
  some: readonly Aside<One>[],
  locked: ReadonlySet<string>,
  givesWay: (earlier: Aside<One>) => boolean,
): Choice<One> {
  /** Which call keeps others from a user. */
  const holders = new Map<string, Aside<One>>();
  const doubted = new Set<string>();
  const ready: Aside<One>[] = [];
  const doubtful: Aside<One>[] = [];
  for (const aside of some) {
    let holder = aside.keys.some((key) => locked.has(key)) ? aside : undefined;
    if (!holder) {
      for (const earlier of new Set(aside.keys.flatMap((key) => holders.get(key) ?? []))) {
        if (!givesWay(earlier)) holder ??= earlier;
        else for (const [key, own] of holders) if (own === earlier) holders.delete(key);
      }
    }
    if (holder) {
      for (const key of aside.keys) if (!holders.has(key)) holders.set(key, holder);
    } else if (aside.failedAlone || aside.keys.some((key) => doubted.has(key))) {
      doubtful.push(aside);
      for (const key of aside.keys) doubted.add(key);
    } else {
      ready.push(aside);
    }
  }
  return { ready, doubtful };
}
