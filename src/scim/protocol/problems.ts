import { Problem } from "../../problem.ts";

/** The error keywords of RFC 7644, 3.12, that this server has a use for. */
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "uniqueness";

/** Refuses a request with the keyword that says why; the sentence is public. */
export const scimProblem = (scimType: ScimType, sentence: string): Problem =>
  new Problem(scimType === "uniqueness" ? "CONFLICT" : "INVALID_REQUEST", sentence, { scimType });

export const userNotFound = (): Problem => new Problem("NOT_FOUND", "User not found");
