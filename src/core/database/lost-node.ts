/*
 * A Citus coordinator that loses another node reports it mostly as a failed connection (SQLSTATE
 * class 08) and sometimes as XX000; only the message shows that it is not a real internal error.
 */

const INTERNAL_ERROR = "XX000";

/**
 * Messages of Citus 13; those about the connection to the node come from PostgreSQL's client
 * library.
 */
const LOST_NODE = new RegExp(
  `^(?:${[
    // Before the commit, or in its first phase: nothing is committed.
    "failure on connection marked as essential",
    "execution cannot recover from multiple connection failures",
    "failed to prepare transaction",
    // In the only phase of a commit on one node: it may have been committed.
    "could not commit transaction for shard",
    // The coordinator itself does not respond.
    "postmaster was shut down",
    "server closed the connection unexpectedly",
    "no connection to the server",
    "connection not open",
    "could not (?:send|receive) data (?:to|from) server",
    "SSL ",
    // If the library gives no reason either.
    "$",
  ].join("|")})`,
);

/** Whether the coordinator of a cluster reports, as an internal error, that it lost a node. */
export function isLostNode(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === INTERNAL_ERROR && typeof message === "string" && LOST_NODE.test(message);
}

/** An error with a code, as an engine reports it. */
export const databaseError = (code: string, message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { code });

/** SQLSTATE: it is unknown whether the transaction was committed. */
const RESOLUTION_UNKNOWN = "08007";

/** A constraint or a concurrent transaction refused the commit: it is rolled back for certain. */
const REFUSED = /^(?:23|40)/;

/**
 * The meaning of a commit's error that does not say that the connection was lost. A cluster commits on
 * its nodes before the coordinator itself, so it may come too late: the transaction must not be
 * repeated automatically. Its caller finds out with an `Idempotency-Key`.
 */
export function commitError(error: unknown): unknown {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === "string" && REFUSED.test(code)) return error;
  const message = "It is unknown whether the transaction was committed.";
  return databaseError(RESOLUTION_UNKNOWN, message, error);
}

/** The error of a statement whose transaction another one has aborted. */
const IN_ABORTED = "25P02";

/**
 * Tells the callers of one transaction why it failed: of statements that are sent together, a later one's error may
 * reach its caller first, and says no more than that another one failed.
 *
 * @returns what makes of each statement's error the one to throw.
 */
export function explainAborted(): (error: unknown) => unknown {
  let first: { readonly error: unknown } | undefined;
  return (error) => {
    first ??= { error };
    return (error as { code?: unknown } | null)?.code === IN_ABORTED ? first.error : error;
  };
}
