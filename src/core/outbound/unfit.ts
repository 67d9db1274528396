/* Why a place that a workspace or its company has declared cannot be used; no later try helps. */

/** The declared place can never be used. The message says why. */
export class SourceUnfit extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SourceUnfit";
  }
}

/**
 * The place refuses who connects: a host, a login, a database. The message names only what the
 * connection declares.
 */
export class ConnectionUnfit extends SourceUnfit {}

/** The workspace may not use the connection, if there is one of the name. */
export class NotConnected extends SourceUnfit {}

/**
 * A place outside the connection's `root`. Gives the same message as a place that does not exist.
 */
export class OutsideRoot extends SourceUnfit {}
