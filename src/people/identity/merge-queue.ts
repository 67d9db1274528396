import type { WorkspaceContext } from "../../base/context/context.ts";
import type { ActiveSpan, Tracing } from "../../base/observe/tracing.ts";
import { createSharedTransactions } from "../../database/shared-transactions.ts";
import {
  type Call,
  changeTogether,
  type IdentityServices,
  type Result,
  type Step,
} from "./change-identities.ts";
import { MOST_MATCHES } from "./items.ts";

export interface MergeQueue {
  /** Merges users together with other requests that wait, in one transaction. @returns the outcome of each item. */
  merge(context: WorkspaceContext, steps: readonly Step[]): Promise<Result[]>;
}

/** How many merges one transaction takes, at most: more hold up the event loop, and hardly cost less. */
const MERGES_TOGETHER = 200;

/** How many transactions a process writes at the same time: one is computed while the other is written. */
const AT_ONCE = 2;

/**
 * The limits of one request apply to the whole group. If the group exceeds them, each request is written alone.
 */
export function createMergeQueue(
  services: IdentityServices & { readonly tracing: Tracing },
): MergeQueue {
  const queue = createSharedTransactions<Call, Result[], ActiveSpan>({
    name: "merge users",
    tracing: services.tracing,
    depth: AT_ONCE,
    mostTogether: MERGES_TOGETHER,
    runTogether: (calls) =>
      changeTogether(services, calls, { isDryRun: false, mostUsers: MOST_MATCHES }),
  });
  return {
    merge: (context, steps) => queue.run(context.workspace.id, { context, steps }, steps.length),
  };
}
