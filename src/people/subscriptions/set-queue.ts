import type { ActiveSpan, Tracing } from "../../base/observe/tracing.ts";
import type { ItemNote } from "../../base/verdicts.ts";
import { createSharedTransactions } from "../../database/shared-transactions.ts";
import { type CachingServices, knownIds } from "../profiles/known-ids.ts";
import {
  type GroupSet,
  type SetRequest,
  type SetServices,
  type SettingContext,
  setGroupStates,
  setTogether,
} from "./set-group-states.ts";

export interface SetQueue {
  /**
   * Sets group states together with other requests that wait, each of them whole, in one transaction.
   *
   * @returns the identifiers that match no user.
   */
  set(context: SettingContext, sets: readonly GroupSet[]): Promise<ItemNote[]>;
}

/** How many named users one transaction takes, at most (lab/NOTEBOOK.md). */
const USERS_TOGETHER = 2_000;

/** How many transactions a process writes at the same time: one is computed while the other is written. */
const AT_ONCE = 2;

export interface SetQueueServices extends SetServices, CachingServices {
  readonly tracing: Tracing;
}

export function createSetQueue(services: SetQueueServices): SetQueue {
  const queue = createSharedTransactions<SetRequest, ItemNote[], ActiveSpan>({
    name: "set states",
    tracing: services.tracing,
    depth: AT_ONCE,
    mostTogether: USERS_TOGETHER,
    async runTogether(requests) {
      const [first] = requests as [SetRequest];
      const cached = await knownIds(services, first.context.workspace.id);
      return setTogether(services, requests, cached);
    },
  });
  return {
    set: (context, sets) =>
      queue.run(
        context.workspace.id,
        { context, sets },
        sets.reduce((sum, { named }) => sum + named.length, 0),
      ),
  };
}

export interface QueuedSetServices extends SetServices {
  readonly setQueue: SetQueue;
}

/** Within a transaction that records the answer, a request is written by itself. */
export const setInTurn = (
  services: QueuedSetServices,
  context: SettingContext,
  sets: readonly GroupSet[],
): Promise<ItemNote[]> =>
  services.database.isWithin
    ? setGroupStates(services, context, sets)
    : services.setQueue.set(context, sets);
