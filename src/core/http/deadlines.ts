export interface Deadline {
  readonly endsAt: number;
  readonly expire: () => void;
  hasExpired: boolean;
}

export type Deadlines = ReturnType<typeof createDeadlines>;

const LOOK_EVERY_MS = 250;

/** Deadlines for thousands of handlers at the cost of one timer. */
export function createDeadlines() {
  const running = new Set<Deadline>();
  const look = setInterval(() => {
    const now = performance.now();
    for (const deadline of running) {
      if (deadline.endsAt > now) continue;
      running.delete(deadline);
      deadline.hasExpired = true;
      deadline.expire();
    }
  }, LOOK_EVERY_MS).unref();
  return {
    /** Calls `expire` unless `end` is called within this many milliseconds. */
    start(milliseconds: number, expire: () => void) {
      const deadline = { endsAt: performance.now() + milliseconds, expire, hasExpired: false };
      running.add(deadline);
      return deadline;
    },
    end: (deadline: Deadline) => void running.delete(deadline),
    stop: () => clearInterval(look),
  };
}
