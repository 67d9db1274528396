import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { clusterOf } from "../citus/cluster.ts";
import { isCitus } from "../citus/distribute.ts";
import { createSecondPhase, type SecondPhase } from "../citus/second-phase.ts";
import { createWorkers } from "../citus/workers.ts";
import {
  checkStatement,
  checkWritten,
  type Database,
  isUnavailable,
  NOT_PREPARED,
  type Queryable,
  SERIALIZATION_FAILURE,
  type TransactionBody,
} from "../database.ts";
import { lanesFor } from "../lanes.ts";
import { commitError, databaseError, explainAborted } from "../lost-node.ts";
import { encodeParameters, readTimestamp } from "../parameters/parameters.ts";
import { plannerSettings, type Use } from "../planner.ts";
import {
  createWatchdog,
  type Deadlines,
  deadlinesOf,
  LONG_DEADLINES,
  type Watchdog,
} from "./deadlines.ts";
import { createKeeper, FROZEN_MS, type Keeper } from "./keep-transactions.ts";
import { selectTableLock } from "./lock-holders.ts";
import { createPulse, type Pulse } from "./pulse.ts";

/** How many connections one process keeps, at most, for each use. */
const CONNECTIONS: Readonly<Record<Use, number>> = {
  intake: 8,
  lookup: 4,
  analysis: 5,
  maintenance: 5,
};

/**
 * By default a coordinator of Citus allows one transaction at a time to write to several of the
 * same shards: all lanes with new addresses would wait until the previous one has committed.
 * Rapport writes in one order of rows and runs an aborted transaction again, as on PostgreSQL,
 * which ignores the setting (docs/scaling.md).
 */
const ON_CITUS = { "citus.enable_deadlock_prevention": "off" };

/** Connections for other uses than intake are closed after this many seconds without work. */
const IDLE_SECONDS = 60;

/** How long a connection that failed waits for the next attempt: by default the client waits up to 20 s. */
const RECONNECT_SECONDS = 0.1;

/** How long a connection may take, at most; never longer than a statement. */
const CONNECT_SECONDS = 10;

const STATEMENT_SECONDS = 15;

/**
 * Opens a PostgreSQL (15 or newer) or a Citus coordinator.
 *
 * @param url `postgres://user:password@host:port/database` @param statementSeconds how long a
 * statement may take; work for `analysis` has separate deadlines.
 * @param usesWorkers whether statements may go to the workers of a cluster past its coordinator.
 */
export async function openPostgres(
  url: string,
  statementSeconds = STATEMENT_SECONDS,
  usesWorkers = false,
): Promise<Database> {
  const open = (node: string) => openNode(node, statementSeconds);
  const database = open(url);
  const isCluster = await isCitus(database).catch(async (error) => {
    await database.close();
    throw error;
  });
  if (!isCluster) return database;
  return clusterOf(database, usesWorkers ? createWorkers(database, url, open) : undefined);
}

function openNode(url: string, statementSeconds: number): Database {
  const deadlines = deadlinesOf(statementSeconds * 1_000);
  const pools = new Map<Use, Pool>();
  let intakeTransactions = 0;
  const { pulse, endPulse } = startPulse(url, (reason) => {
    for (const pool of pools.values()) pool.disconnect(reason);
  });
  const keeper = createKeeper();
  // Past the transactions of the intake, which may wait for locks of the incomplete one.
  const secondPhase = createSecondPhase((text) => {
    const { sql, watchdog } = poolFor("lookup");
    return watchdog.watch(sql.unsafe(text));
  });
  const poolFor = (asked: Use): Pool => {
    // They differ on an engine of one connection only.
    const use = asked === "maintenance" ? "analysis" : asked;
    const known = pools.get(use);
    if (known) return known;
    const allowed = use === "analysis" ? LONG_DEADLINES : deadlines;
    const pool = openPool(url, use, { deadlines: allowed, pulse, keeper, secondPhase });
    pools.set(use, pool);
    return pool;
  };
  const areTablesLocked = shareAnswer(() => selectTableLock(databaseFor("lookup")));
  const close = async () => {
    pulse.stop();
    keeper.stop();
    await Promise.all([endPulse(), ...[...pools.values()].map(({ end }) => end())]);
  };

  const databaseFor = (use: Use): Database => {
    const pool = poolFor(use);
    const transaction: Database["transaction"] = (work) => {
      if (use === "intake") intakeTransactions += 1;
      return inTransaction(pool, work);
    };
    const database: Database = {
      engine: "postgres",
      concurrency: CONNECTIONS[use],
      isSerialized: false,
      ordersWriters: true,
      lockPatienceMs: deadlines.patienceMs,
      areTablesLocked,
      intakeCount: () => intakeTransactions,
      ...queryable(pool.sql, (sent) => secondPhase.completed(pool.watchdog.watch(sent))),
      for: databaseFor,
      reader: () => database,
      lanes: async (writers) => lanesFor(writers, CONNECTIONS[use]),
      transaction,
      // Nothing more to save: the client awaits the beginning and decides to commit by the responses.
      // (Its `reserve` would not wait, but forgets its callers when a connection is reset.)
      transactionAtOnce: transaction,
      // Autovacuum does it.
      maintain: async () => {},
      onEvent: pulse.onEvent,
      close,
    };
    return database;
  };
  return databaseFor("intake");
}

/** How long all that ask share an answer, in ms. */
const SHARED_MS = 100;

function shareAnswer<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: { readonly at: number; readonly answer: Promise<Answer> } | undefined;
  return () => {
    const now = performance.now();
    if (!asked || now - asked.at > SHARED_MS) asked = { at: now, answer: ask() };
    return asked.answer;
  };
}

type Pool = ReturnType<typeof openPool>;

/** Opens the connection for the server's pulse; it exists only while a sign of life is awaited. */
function startPulse(url: string, disconnectPools: (reason: Error) => void) {
  const sockets = createSockets();
  const options = {
    max: 1,
    onnotice: () => {},
    idle_timeout: 5,
    connect_timeout: CONNECT_SECONDS,
    backoff: () => 0,
    fetch_types: false,
    connection: { application_name: "rapport" },
    socket: sockets.open,
  };
  const sql = postgres(url, options);
  const pulse = createPulse({
    ask: () => sql.unsafe("select 1"),
    disconnect: () => {
      sockets.destroy(silence());
      disconnectPools(silence());
    },
  });
  return { pulse, endPulse: () => sockets.end(sql, 1) };
}

interface Watching {
  readonly deadlines: Deadlines;
  readonly pulse: Pulse;
  readonly keeper: Keeper;
  readonly secondPhase: SecondPhase;
}

function openPool(url: string, use: Use, { deadlines, pulse, keeper, secondPhase }: Watching) {
  const sockets = createSockets();
  const options = {
    max: CONNECTIONS[use],
    onnotice: secondPhase.note,
    connect_timeout: Math.min(CONNECT_SECONDS, deadlines.statementMs / 1_000),
    ...(use !== "intake" && { idle_timeout: IDLE_SECONDS }),
    backoff: () => RECONNECT_SECONDS,
    // The types of arrays need not be fetched: see parameters.ts.
    fetch_types: false,
    // One of several hosts is the primary, and another one after a failover.
    ...(namesSeveralHosts(url) && { target_session_attrs: "primary" as const }),
    connection: {
      application_name: "rapport",
      TimeZone: "UTC",
      statement_timeout: deadlines.statementMs,
      lock_timeout: deadlines.lockMs,
      idle_in_transaction_session_timeout: Math.min(FROZEN_MS, deadlines.idleMs),
      ...plannerSettings(use),
      ...ON_CITUS,
    },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      timestamptz: { to: 1184, from: [1184], serialize: String, parse: readTimestamp },
    },
    socket: sockets.open,
  };
  const sql = postgres(url, options);
  const disconnect = sockets.destroy;
  const watchdog = createWatchdog(deadlines, pulse, disconnect);
  const { idleMs } = deadlines;
  return {
    sql,
    watchdog,
    keeper,
    secondPhase,
    idleMs,
    disconnect,
    /** Closes the connections; waits at most 5 s for busy ones. */
    end: () => sockets.end(sql, 5),
  };
}

const namesSeveralHosts = (url: string): boolean => /^[^/]+\/\/[^/?]*,/.test(url);

const silence = (): Error => databaseError("ETIMEDOUT", "The database sends nothing.");

/** The client's settings for a connection; all hosts if there are several. */
interface Host {
  readonly path?: string;
  readonly host: readonly string[];
  readonly port: readonly number[];
}

/**
 * Opens the client's sockets, so that they can be closed without the server's consent.
 *
 * With several hosts the client treats a failure of one as a reason to try the next, at once and
 * without end, even after it was told to end. From the second round on, each attempt therefore
 * waits here, and after the end there is none.
 */
function createSockets() {
  const sockets = new Set<Socket>();
  let opened = 0;
  let failedInARow = 0;
  let isEnded = false;
  const open = async ({ path, host, port }: Host): Promise<Socket> => {
    const turn = opened++ % host.length;
    if (host.length > 1 && failedInARow >= host.length) await sleep(RECONNECT_SECONDS * 1_000);
    if (isEnded) throw databaseError("CONNECTION_ENDED", "The connections were closed.");
    const address = { host: host[turn] ?? "localhost", port: port[turn] ?? 5432 };
    const socket = path ? connect(path) : connect(address);
    sockets.add(socket);
    failedInARow += 1;
    socket.once("connect", () => {
      failedInARow = 0;
    });
    socket.once("close", () => sockets.delete(socket));
    // The client names the server by it in TLS.
    return Object.assign(socket, path ? {} : { host: address.host });
  };
  return {
    open,
    destroy(reason: Error): void {
      for (const socket of sockets) socket.destroy(reason);
    },
    async end(sql: postgres.Sql, seconds: number): Promise<void> {
      await sql.end({ timeout: seconds });
      isEnded = true;
    },
  };
}

/**
 * Runs a transaction. Once its connection is lost the client must receive no further statement, not
 * even a rollback: it would write to a socket that no longer exists, and that would end the
 * process. Later statements of the work therefore fail here. The watchdog covers the statements and
 * also the waits for a connection, for begin and for commit.
 */
async function inTransaction<Result>(
  { sql, watchdog, keeper, secondPhase, idleMs }: Pool,
  work: TransactionBody<Result>,
): Promise<Result> {
  await watchdog.ready();
  let isLost = false;
  let isOver = false;
  let isCommitting = false;
  let failed: { readonly error: unknown } | undefined;
  const explain = explainAborted();
  const ask = async (tx: postgres.TransactionSql, statement: Parameters<typeof sql.unsafe>) => {
    if (isLost || isOver) throw databaseError("CONNECTION_CLOSED", LOST);
    kept?.note();
    return tx.unsafe(...statement).catch((error) => {
      if (HAS_NO_SOCKET.test(error.code)) isLost = true;
      throw explain(error);
    });
  };
  let kept: ReturnType<Keeper["keep"]> | undefined;
  const begun = signal();
  const worked = signal();
  const transaction = sql.begin(async (tx) => {
    // Its caller has stopped waiting for a connection.
    if (isOver) throw new Error(LOST);
    begun.reach();
    kept = keeper.keep(idleMs, () => tx.unsafe("select 1"));
    const unsafe = (...statement: Parameters<typeof sql.unsafe>) => ask(tx, statement);
    const script = async (text: string) => void (await watchdog.watchSent(unsafe(text)));
    try {
      const result = await work({ ...queryable({ unsafe }, watchdog.watchSent), script }, false);
      isCommitting = true;
      return result;
    } catch (error) {
      failed = { error };
      throw error;
    } finally {
      kept.end();
      if (isLost) await new Promise(() => {});
      worked.reach();
    }
  }) as Promise<Result>;
  try {
    await watchdog.watchSent(Promise.race([begun.reached, transaction]));
    await Promise.race([worked.reached, transaction]).catch((error) => {
      isLost = true;
      throw error;
    });
    return await secondPhase.completed(watchdog.watchSent(transaction));
  } catch (error) {
    // The error of the work says more than the end of its connection, which may be a consequence.
    const cause = failed ? failed.error : error;
    if (!isCommitting && kept?.wasFrozen() && isUnavailable(cause)) {
      throw databaseError(SERIALIZATION_FAILURE, FROZEN, cause);
    }
    if (failed) throw failed.error;
    throw isCommitting && !isUnavailable(error) ? commitError(error) : error;
  } finally {
    isOver = true;
    kept?.end();
    transaction.catch(() => {});
  }
}

/** A signal that can be awaited. */
function signal(): { readonly reached: Promise<void>; reach(): void } {
  let reach: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach };
}

const FROZEN = "The transaction was ended while this process was paused: nothing is committed.";

const LOST = "The transaction is over: its connection was lost.";

/** Among them what closes a connection to a server that takes no writes: see `createWatchdog`. */
const HAS_NO_SOCKET = /^(?:CONNECTION_(?:CLOSED|DESTROYED)|ECONN\w+|EPIPE|ETIMEDOUT|25006)$/;

/** Runs statements: the client, or a transaction of it. */
interface Asked {
  unsafe(
    ...statement: Parameters<postgres.Sql["unsafe"]>
  ): PromiseLike<postgres.RowList<postgres.Row[]>>;
}

/** The mark of a parameter that the client sends as it is (build/patch-driver.ts). */
const asBytes = (bytes: Uint8Array) => ({ bytes });

function queryable(sql: Asked, watch: Watchdog["watch"]): Queryable {
  const run = (text: string, parameters: readonly unknown[] = []) => {
    checkStatement(text, parameters);
    const prepare = !text.startsWith(NOT_PREPARED);
    return watch(sql.unsafe(text, encodeParameters(parameters, asBytes) as string[], { prepare }));
  };
  return {
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await run(text, parameters)) as unknown as Row[],
    async execute(text, parameters, mustWrite) {
      const result = await run(text, parameters);
      return checkWritten(result.columns?.length ? result.length : result.count, mustWrite);
    },
  };
}
