import { type Fault, Problem } from "../../core/base/problem.ts";

/** spec: Errors, translation error codes; the last three only occur in updates. */
export type TranslationCode =
  | "INVALID_CAMPAIGN_ID"
  | "INVALID_LOCALE_ID"
  | "INVALID_MESSAGE_VARIATION_ID"
  | "MESSAGE_NOT_FOUND"
  | "LOCALE_NOT_FOUND"
  | "MULTI_LANGUAGE_NOT_ENABLED"
  | "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE"
  | "UNSUPPORTED_CHANNEL"
  | "MISSING_TRANSLATIONS"
  | "INVALID_TRANSLATIONS"
  | "TRANSLATIONS_TOO_LARGE";

/** Refuses a request about translations. @param message public: the field and the rule. */
export const refusal = (code: TranslationCode, message: string): Problem =>
  refusalOf({ code, message });

/** Refuses a request because of a fault in a text. `*_NOT_FOUND` is 404, the others are 400. */
export const refusalOf = ({ code, message }: Fault): Problem =>
  new Problem(code.endsWith("_NOT_FOUND") ? "NOT_FOUND" : "INVALID_REQUEST", message, {
    body: { errors: [{ message, code }] },
  });
