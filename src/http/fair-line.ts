import { createFairQueue } from "../threads/fair-queue.ts";
import { tooMuchLoad } from "./respond.ts";

/** Requests that wait for a place, of one owner. Beyond, they are refused. */
const MOST_WAITING = 100;

export interface FairLine {
  /** Runs work of an owner once there is a place. Owners take turns. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
}

/** Lets so many pieces of expensive work run at the same time, and never gives one owner every place. */
export function createFairLine(places: number): FairLine {
  const queue = createFairQueue<() => Promise<void>>(MOST_WAITING);
  const running = new Map<number | string, number>();
  let busy = 0;

  const countOf = (owner: number | string) => running.get(owner) ?? 0;

  function startNext(): void {
    while (busy < places) {
      const next = queue.take((owner) => countOf(owner) < places - 1);
      if (!next) return;
      busy++;
      running.set(next.owner, countOf(next.owner) + 1);
      void next.job().finally(() => {
        busy--;
        if (countOf(next.owner) > 1) running.set(next.owner, countOf(next.owner) - 1);
        else running.delete(next.owner);
        startNext();
      });
    }
  }

  return {
    run: (owner, work) =>
      new Promise((resolve, reject) => {
        const start = () => work().then(resolve, reject);
        if (!queue.push(owner, start)) return reject(tooMuchLoad());
        startNext();
      }),
  };
}
