import { SERIALIZATION_FAILURE } from "../database/database.ts";

/**
 * What was read is stale: another transaction changed, created or removed a user meanwhile.
 * The transaction must be rolled back and worked out again, as `withRetries` does: to it this is a
 * serialization failure like one that the engine finds.
 */
export class StaleRead extends Error {
  readonly code = SERIALIZATION_FAILURE;
  constructor(what: string) {
    super(`StaleRead: ${what}`);
    this.name = "StaleRead";
  }
}
