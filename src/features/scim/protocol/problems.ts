import { Problem } from "../../../core/base/problem.ts";
import { storableText } from "../../../core/base/values/plain-json.ts";

/** The error keywords of RFC 7644, 3.12, that are in use. */
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "uniqueness";

/**
 * Refuses a request with the keyword that says why; the sentence is public. It may quote what no engine can
 * store, and a response with an Idempotency-Key is stored.
 */
export const scimProblem = (scimType: ScimType, sentence: string): Problem =>
  new Problem(scimType === "uniqueness" ? "CONFLICT" : "INVALID_REQUEST", storableText(sentence), {
    scimType,
  });

/**
 * How much work one SCIM request may cause: at most 50 ms of one core, tried with every attack in
 * scim-work.test.ts. A unit costs more here than elsewhere, because paths and filters are parsed.
 */
export const SCIM_WORK_LIMIT = 25_000;

export const userNotFound = (): Problem => new Problem("NOT_FOUND", "User not found");
