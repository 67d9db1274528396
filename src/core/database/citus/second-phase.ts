import { setTimeout as sleep } from "node:timers/promises";
import { commitError } from "../lost-node.ts";

/** The warning of a coordinator that lost a node in the second phase of a commit; it then reports a success. */
const LEFT_BEHIND = /^failed to commit transaction on /;

/** A transaction that begins after those whose commit is looked at. */
const MARK = "select pg_current_xact_id()::xid::text as mark";

/** Each part of a commit in two phases has a record until the coordinator has seen that its node has committed. */
const isLeftBefore = (mark: string) =>
  `select exists (select 1 from pg_dist_transaction where age(xmin) > age('${mark}'::xid)) as "isLeft"`;

const LOOK_EVERY_MS = 50;

/** How long a caller waits until every node has committed. */
const PATIENCE_MS = 5_000;

/** What a server reports beside the response to a statement. */
interface Notice {
  readonly message?: string;
}

/**
 * Holds back the success of a commit that did not reach every node. Citus completes it later
 * (`citus.recover_2pc_interval`); until then readers see what was there before on that node. The
 * warning comes before the response, but does not say which connection it is of.
 *
 * @param ask runs a statement on the node that coordinates the commit, on a connection that no
 * transaction waits for.
 */
export function createSecondPhase(ask: (sql: string) => Promise<readonly unknown[]>) {
  let warnings = 0;

  async function complete(giveUpAt: number): Promise<void> {
    const [first] = (await ask(MARK)) as [{ mark: string }];
    for (;;) {
      // Only its owner may ask for this; others wait for the next regular one.
      await ask("select recover_prepared_transactions()").catch(() => {});
      const [found] = (await ask(isLeftBefore(first.mark))) as [{ isLeft: boolean }];
      if (!found.isLeft) return;
      if (performance.now() > giveUpAt) throw commitError(new Error(INCOMPLETE));
      await sleep(LOOK_EVERY_MS);
    }
  }

  // One look at a time, for all commits that were made before it began.
  let looking = Promise.resolve();
  let waiting: Promise<void> | undefined;
  function completeTogether(): Promise<void> {
    // The time spent behind the look before this one counts.
    const giveUpAt = performance.now() + PATIENCE_MS;
    waiting ??= looking.then(() => {
      waiting = undefined;
      const look = complete(giveUpAt);
      looking = look.catch(() => {});
      return look;
    });
    return waiting;
  }

  return {
    /** Hears all that the server reports on any of the connections. */
    note({ message = "" }: Notice): void {
      if (LEFT_BEHIND.test(message)) warnings += 1;
    },
    /**
     * @returns what `response` becomes, once all nodes have committed.
     * @throws an error that leaves the outcome open if a node does not in time.
     */
    async completed<Result>(response: Promise<Result>): Promise<Result> {
      const before = warnings;
      const result = await response;
      if (warnings !== before) await completeTogether();
      return result;
    },
  };
}

export type SecondPhase = ReturnType<typeof createSecondPhase>;

const INCOMPLETE = "The transaction is committed on some nodes and not yet on all.";
