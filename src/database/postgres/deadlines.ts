import { READ_ONLY } from "../database.ts";
import { databaseError } from "../lost-node.ts";

/** How long the database may take, in milliseconds. */
export interface Deadlines {
  /** For one statement, on the server. */
  readonly statementMs: number;
  /** For one lock that another transaction holds. */
  readonly lockMs: number;
  /** How long a transaction may hold its locks without a statement. */
  readonly idleMs: number;
}

/** Long enough for a statement under load, short enough that its caller still waits for the response. */
export const deadlinesOf = (statementMs: number): Deadlines => ({
  statementMs,
  lockMs: Math.ceil(statementMs / 2),
  idleMs: statementMs,
});

/** For work that may take long: migrations, exports, figures. */
export const LONG_DEADLINES = deadlinesOf(30 * 60 * 1_000);

/** Extra time for the network and the client before the server counts as silent. */
const GRACE_MS = 1_000;

/** The SQLSTATE of a canceled statement: what a server that keeps its deadlines would have sent. */
const QUERY_CANCELED = "57014";

/** Concludes from statements without a response whether the server still responds at all. */
export interface Watchdog {
  /**
   * @returns what `response` becomes.
   * @throws an error that counts as unavailable when it takes longer than a server that responds would.
   */
  watch<Result>(response: PromiseLike<Result>): Promise<Result>;
}

/**
 * A server that responds ends each statement in time by itself. One that was stopped, or whose network
 * drops packets, sends nothing at all, and the operating system would wait for many minutes. So each
 * statement has a timer here too. When it ends and no other statement got a response since, the
 * connections are closed: everything that waits for them fails, and the next request opens new ones.
 */
export function createWatchdog({ statementMs }: Deadlines, disconnect: () => void): Watchdog {
  let respondedAt = 0;
  return {
    watch: (response) =>
      new Promise((resolve, reject) => {
        const askedAt = performance.now();
        const expire = () => {
          if (respondedAt < askedAt) disconnect();
          reject(timeoutError());
        };
        // After the process was paused, timers fire before sockets are read; this lets responses that have arrived be read first.
        const timer = setTimeout(
          () => setImmediate(() => isOpen && expire()),
          statementMs + GRACE_MS,
        );
        let isOpen = true;
        const close = () => {
          isOpen = false;
          respondedAt = performance.now();
          clearTimeout(timer);
        };
        response.then(
          (result) => {
            close();
            resolve(result);
          },
          (error) => {
            close();
            // After a failover this server is a standby: new connections find the primary.
            if (error?.code === READ_ONLY) disconnect();
            reject(error);
          },
        );
      }),
  };
}

const timeoutError = (): Error =>
  databaseError(QUERY_CANCELED, "The database did not respond in time.");
