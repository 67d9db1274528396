/**
 * The two ways to say no.
 *
 * A `Problem` refuses a whole request: a use case throws it, `core/http/respond.ts` turns it into the
 * status and the body of the endpoint's dialect. A `Fault` is the verdict on one item of a request
 * that continues without it: it is a value, never thrown.
 */

/** The kinds of failure, in Rapport's own words; `core/http/respond.ts` maps each code to a status. */
export type ProblemCode =
  | "INVALID_REQUEST"
  | "WORK_LIMIT_EXCEEDED"
  | "TOO_MANY_VALUES"
  | "RESPONSE_TOO_LARGE"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "REQUEST_TIMEOUT"
  | "CONFLICT"
  | "GONE"
  | "BODY_TOO_LARGE"
  | "URL_TOO_LONG"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "IDEMPOTENCY_KEY_REUSED"
  | "RATE_LIMITED"
  | "HEADERS_TOO_LARGE"
  | "UNAVAILABLE"
  | "INTERNAL";

/** A page for a person who followed a link. Plain texts. */
export interface SentencePage {
  readonly heading: string;
  readonly text: string;
  readonly locale: string;
  readonly direction: "ltr" | "rtl";
  /** Where a person can go on: a path of this server. */
  readonly link?: { readonly path: string; readonly text: string };
}

export interface ProblemDetails {
  /** Further members of the answer's body, such as `errors`. Public. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The member of the body that should be a list and is none. */
  readonly list?: string | undefined;
  /** The `scimType` of RFC 7644, 3.12, if there is one. Shown in SCIM answers. */
  readonly scimType?: string;
  /** When it makes sense to try again, in whole seconds. Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The page for a person, if it says more than the message. */
  readonly page?: SentencePage;
  /** Details for the logs that the caller should not see. */
  readonly cause?: unknown;
}

/** Refuses a request. The message is public: it says which field and why, and never a secret. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message, { cause: details.cause });
    this.name = "Problem";
    this.code = code;
    this.details = details;
  }
}

/** The verdict on a rejected item: a stable upper-case code and a sentence. */
export interface Fault {
  readonly code: string;
  readonly message: string;
}

/** The outcome of checking one value: the value as it will be kept, or why it cannot be. */
export type Checked<Value> = { readonly value: Value } | { readonly fault: Fault };

/** The outcome of a check that found no fault. */
export const accepted = <Value>(value: Value): Checked<Value> => ({ value });

/** The outcome of a check that found a fault, with a stable code and a sentence. */
export const refused = (code: string, message: string): { readonly fault: Fault } => ({
  fault: { code, message },
});
