import { Problem, type ProblemCode, type ProblemDetails } from "../base/problem.ts";
import {
  describeUnavailable,
  isAborted,
  isRefusedWrite,
  isUnavailable,
} from "../database/database.ts";
import type { Dialect, Reply } from "./endpoint.ts";
import { sentencePage } from "./sentence-page.ts";

/** The only place that gives an error its status. docs/errors.md is checked against this table. */
export const STATUS_OF: Readonly<Record<ProblemCode, number>> = {
  INVALID_REQUEST: 400,
  WORK_LIMIT_EXCEEDED: 400,
  TOO_MANY_VALUES: 400,
  RESPONSE_TOO_LARGE: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  GONE: 410,
  BODY_TOO_LARGE: 413,
  URL_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

export const isRefusal = (status: number): boolean => status >= STATUS_OF.INVALID_REQUEST;

const BODY_OF: Readonly<Record<Dialect, (problem: Problem) => unknown>> = {
  message: (problem) => ({ message: problem.message, ...problem.details.body }),
  // spec: Errors, /users/track, a fatal problem: message and errors carry the text. Clients look up
  // each error's object, so that other statuses carry none, and each error names a place.
  "message-and-errors": ({ code, message, details }) => ({
    message,
    ...(STATUS_OF[code] === 400 && { errors: [withoutObject(code, message, details.list)] }),
    ...details.body,
  }),
  // RFC 7644, 3.12, except that the status is a number. docs/conformance.md#other-errors
  scim: ({ code, message, details }) => ({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    ...scimTypeOf(code, details),
    detail: message,
    status: STATUS_OF[code],
  }),
  // spec: Errors, translations. Every error of these endpoints has this form.
  translations: ({ code, message, details }) => ({
    errors: details.body?.errors ?? [{ message, code }],
  }),
  page: ({ message, details }) => sentencePage(message, details.page),
};

/** The error of a request that no object is to blame for: it names the first place of its list. */
const withoutObject = (code: ProblemCode, message: string, list = "attributes") => ({
  type: message,
  message,
  code,
  input_array: list,
  index: 0,
});

/** An unreadable request is a matter of syntax. */
function scimTypeOf(code: ProblemCode, { scimType }: ProblemDetails): { scimType?: string } {
  if (scimType !== undefined) return { scimType };
  if (code === "WORK_LIMIT_EXCEEDED" || code === "TOO_MANY_VALUES") return { scimType: "tooMany" };
  return code === "INVALID_REQUEST" ? { scimType: "invalidSyntax" } : {};
}

/** The media type of a JSON error in each dialect. RFC 7644, 3.1 for SCIM. */
export const MEDIA_TYPE_OF: Readonly<Record<Dialect, string>> = {
  message: "application/json",
  "message-and-errors": "application/json",
  scim: "application/scim+json",
  translations: "application/json",
  page: "text/html",
};

/** RFC 7644, 7.5.2: responses hold personal data, so no cache stores them and no browser sniffs them. */
export const SCIM_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** Fastify's refusals, before an endpoint is reached. */
const FROM_FRAMEWORK: Readonly<Record<string, [ProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "UNSUPPORTED_MEDIA_TYPE",
    "The Content-Type must be application/json.",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    "INVALID_REQUEST",
    "The body length does not match the Content-Length header.",
  ],
  FST_ERR_BAD_URL: ["INVALID_REQUEST", "The path is not a valid URL path."],
  FST_ERR_MAX_PARAM_LENGTH: ["NOT_FOUND", "There is nothing at this path."],
};

/** Refuses a request for the sake of others. The metrics count which limit it was. */
export const tooMuchLoad = (): Problem =>
  new Problem("UNAVAILABLE", "The server is overloaded. Try again.", { retryAfterSeconds: 1 });

/** Any error as the problem that the caller sees. An unforeseen one reveals nothing. @param bytesIn of the endpoint. */
export function asProblem(error: unknown, bytesIn: number): Problem {
  if (error instanceof Problem) return error;
  const { code = "", statusCode } = error as { code?: string; statusCode?: number };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Problem("BODY_TOO_LARGE", `The body is larger than ${bytesIn / 1_048_576} MB.`);
  }
  const known = FROM_FRAMEWORK[code];
  if (known) return new Problem(...known);
  if (code.startsWith("FST_ERR_") && statusCode !== undefined && statusCode < 500) {
    return new Problem("INVALID_REQUEST", "The request cannot be read.");
  }
  if (isUnavailable(error)) {
    const message = isRefusedWrite(error)
      ? `${describeUnavailable(error)} Nothing can be written at present. Try again.`
      : "The database is unavailable or did not respond in time. Try again.";
    return new Problem("UNAVAILABLE", message, { retryAfterSeconds: 1, cause: error });
  }
  if (isAborted(error)) {
    const message =
      "Other writes to the same data came first each time, or the server stood still. Try again.";
    return new Problem("UNAVAILABLE", message, { retryAfterSeconds: 1, cause: error });
  }
  return new Problem("INTERNAL", "Something went wrong on our side.", { cause: error });
}

/** The answer to a refused request, in the endpoint's dialect. */
export function problemReply(problem: Problem, dialect: Dialect = "message"): Reply {
  const { retryAfterSeconds } = problem.details;
  return {
    status: STATUS_OF[problem.code],
    body: BODY_OF[dialect](problem),
    ...(retryAfterSeconds !== undefined && {
      headers: { "retry-after": String(retryAfterSeconds) },
    }),
  };
}
