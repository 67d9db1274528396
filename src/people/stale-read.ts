import { SERIALIZATION_FAILURE } from "../database/database.ts";

/**
 * What was read is not true any more: somebody else changed, made or removed a person in between.
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
