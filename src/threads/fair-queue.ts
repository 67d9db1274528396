/** Jobs that wait, one line for each owner. */
export interface FairQueue<Job> {
  /** @returns false where the owner's line is full. */
  push(owner: number | string, job: Job): boolean;
  /** The next job in turn whose owner may run one, with its owner. */
  take(mayRun: (owner: number | string) => boolean): Waiting<Job> | undefined;
}

interface Waiting<Job> {
  readonly owner: number | string;
  readonly job: Job;
}

/**
 * Owners take turns: each gets one job started before any of them gets the next one, however many jobs
 * one of them has queued.
 */
export function createFairQueue<Job>(mostPerOwner: number): FairQueue<Job> {
  // A map keeps the order of insertion, which is the order of turns.
  const lines = new Map<number | string, Job[]>();
  return {
    push(owner, job) {
      const line = lines.get(owner) ?? [];
      if (line.length >= mostPerOwner) return false;
      line.push(job);
      lines.set(owner, line);
      return true;
    },
    take(mayRun) {
      for (const [owner, line] of lines) {
        const [job] = line;
        if (job === undefined || !mayRun(owner)) continue;
        line.shift();
        lines.delete(owner);
        if (line.length > 0) lines.set(owner, line);
        return { owner, job };
      }
      return undefined;
    },
  };
}
