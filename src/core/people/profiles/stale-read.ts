import { SERIALIZATION_FAILURE } from "../../database/database.ts";

/**
 * A stale read: another transaction changed, created or removed a user meanwhile. The code makes
 * `withRetries` roll back and run the work again, as after a serialization failure of the engine.
 */
export class StaleRead extends Error {
  readonly code = SERIALIZATION_FAILURE;
  constructor(what: string) {
    super(`StaleRead: ${what}`);
    this.name = "StaleRead";
  }
}
