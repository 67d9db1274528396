import { isRefusedEntry, isUnreachable, READ_ONLY } from "../database.ts";
import { databaseError } from "../lost-node.ts";
import type { Pulse } from "./pulse.ts";

/** How long the database may take, in milliseconds. */
export interface Deadlines {
  /** For one statement, on the server. */
  readonly statementMs: number;
  /** For one lock that another transaction holds, unless the transaction sets it itself. */
  readonly lockMs: number;
  /** For all locks that a call waits for without a transaction in between. */
  readonly patienceMs: number;
  /** How long a transaction of a running process may keep its locks without a statement. */
  readonly idleMs: number;
}

/** So that a batch and the next one behind it are refused within two seconds while their table is locked. */
const LOCK_MS = 600;

/** Long enough for a statement under load, short enough that its caller still waits for the response. */
export function deadlinesOf(statementMs: number): Deadlines {
  const patienceMs = Math.ceil(statementMs / 2);
  return { statementMs, lockMs: Math.min(LOCK_MS, patienceMs), patienceMs, idleMs: statementMs };
}

const LONG = deadlinesOf(30 * 60 * 1_000);

/** For work that may take long: migrations, exports, figures. */
export const LONG_DEADLINES: Deadlines = { ...LONG, lockMs: LONG.patienceMs };

/** Extra time for the network and the client before the server counts as silent. */
const GRACE_MS = 1_000;

/** The SQLSTATE of a canceled statement, as sent by a server that keeps its deadlines. */
const QUERY_CANCELED = "57014";

/** Ends the wait for responses that do not come. */
export type Watchdog = ReturnType<typeof createWatchdog>;

/**
 * A server that responds ends each statement in time by itself. If only one statement gets no
 * response, its timer here ends the wait; the pulse finds out whether the server is reachable.
 *
 * @param disconnect closes all connections for a reason.
 */
export function createWatchdog(
  { statementMs }: Deadlines,
  pulse: Pulse,
  disconnect: (reason: Error) => void,
) {
  /** As `watch`, for statements of a transaction: they have been sent already. */
  const watchSent = <Result>(response: PromiseLike<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      const done = pulse.waitFor(reject);
      const expire = () => {
        done(false);
        reject(timeoutError());
      };
      // After the process was paused, timers fire before sockets are read; this lets responses that have arrived be read first.
      const timer = setTimeout(
        () => setImmediate(() => isOpen && expire()),
        statementMs + GRACE_MS,
      );
      let isOpen = true;
      const close = (hasResponse: boolean) => {
        isOpen = false;
        done(hasResponse);
        clearTimeout(timer);
      };
      response.then(
        (result) => {
          close(true);
          resolve(result);
        },
        (error) => {
          close(!isUnreachable(error) && !isRefusedEntry(error));
          // After a failover this server is a standby: new connections find the primary.
          if (error?.code === READ_ONLY) disconnect(databaseError(READ_ONLY, error.message));
          else if (isUnreachable(error)) pulse.suspect();
          else if (isRefusedEntry(error)) pulse.refuse(error);
          reject(error);
        },
      );
    });
  return {
    watchSent,
    /**
     * @returns what `response` becomes. A statement that has not been sent yet waits briefly for a
     * lost server.
     * @throws an error that counts as unavailable if the server is lost, or takes longer than a
     * responding one would.
     */
    watch: async <Result>(response: PromiseLike<Result>) => {
      await pulse.recovery();
      return watchSent(response);
    },
    /** Waits briefly for a lost server. @throws if it is not back. */
    ready: async () => pulse.recovery(),
  };
}

const timeoutError = (): Error =>
  databaseError(QUERY_CANCELED, "The database did not respond in time.");
