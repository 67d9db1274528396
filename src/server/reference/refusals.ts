import type { TSchema } from "typebox";
import Type from "typebox";
import type { ProblemCode } from "../../core/base/problem.ts";
import { ItemError } from "../../core/base/verdicts.ts";
import { type Contract, type Dialect, takesBody } from "../../core/http/endpoint.ts";
import { MEDIA_TYPE_OF, STATUS_OF } from "../../core/http/respond.ts";

/* How an endpoint can refuse a request: the contract and what its handler declares decide it. */

/**
 * The meaning of each refusal, for a reader who has just got one. docs/errors.md has the sentences.
 */
const MEANING: Readonly<Record<ProblemCode, string>> = {
  INVALID_REQUEST: "The request is not valid. The message names the field and the rule.",
  WORK_LIMIT_EXCEEDED: "The request asks for too much work. Split it.",
  TOO_MANY_VALUES: "The body holds too many values. Split it.",
  RESPONSE_TOO_LARGE: "The response would be too large. Ask for less at a time.",
  UNAUTHENTICATED: "The key or token is missing or wrong.",
  FORBIDDEN: "The key or token may not do this, or not from this address or origin.",
  NOT_FOUND: "The resource in the path or the request does not exist.",
  METHOD_NOT_ALLOWED: "The path takes other methods: see `Allow`.",
  REQUEST_TIMEOUT: "The body took too long to arrive.",
  CONFLICT: "The request conflicts with a running one, or with an existing resource.",
  GONE: "The changes at the cursor have been deleted.",
  BODY_TOO_LARGE: "The body is too large.",
  URL_TOO_LONG: "The path and query are too long.",
  UNSUPPORTED_MEDIA_TYPE: "The Content-Type or Content-Encoding is not accepted.",
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was used with another request.",
  RATE_LIMITED: "Too many requests. Wait for `Retry-After` seconds.",
  HEADERS_TOO_LARGE: "The headers are too large.",
  UNAVAILABLE:
    "The server is overloaded or cannot reach its database. Wait for `Retry-After` seconds.",
  INTERNAL: "Rapport failed. Nothing was done; report it with the `X-Request-Id`.",
};

const OF_ALL: readonly ProblemCode[] = [
  "INVALID_REQUEST",
  "URL_TOO_LONG",
  "HEADERS_TOO_LARGE",
  "INTERNAL",
  "UNAVAILABLE",
];

/** Whether the same request may be accepted later. */
export const isPassing = (code: ProblemCode): boolean =>
  code === "RATE_LIMITED" || code === "UNAVAILABLE";

const OF_BODIES: readonly ProblemCode[] = [
  "WORK_LIMIT_EXCEEDED",
  "TOO_MANY_VALUES",
  "REQUEST_TIMEOUT",
  "BODY_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];

/** Whether a retry with an `Idempotency-Key` gets the first response. */
export const honoursIdempotencyKey = (contract: Contract): boolean =>
  (contract.access.by === "key" || contract.access.by === "scim") &&
  contract.method !== "GET" &&
  contract.idempotency !== "ignored";

/** Every code with which an endpoint can refuse a request. */
export function refusalsOf(contract: Contract): ReadonlySet<ProblemCode> {
  const { access, params, dialect, refusals = [] } = contract;
  const codes = new Set<ProblemCode>([...OF_ALL, ...refusals]);
  const add = (condition: boolean, more: readonly ProblemCode[]) => {
    if (condition) for (const code of more) codes.add(code);
  };
  add(takesBody(contract), OF_BODIES);
  add(access.by !== "anybody", ["UNAUTHENTICATED", "RATE_LIMITED", "FORBIDDEN"]);
  add(params !== undefined || dialect === "translations", ["NOT_FOUND"]);
  add(access.by === "administrator" && access.of !== "server", ["NOT_FOUND"]);
  add(honoursIdempotencyKey(contract), ["CONFLICT", "IDEMPOTENCY_KEY_REUSED"]);
  add(access.by === "administrator" && takesBody(contract), ["CONFLICT"]);
  add(contract.method === "GET" || contract.idempotency === "ignored", ["RESPONSE_TOO_LARGE"]);
  return codes;
}

/** The statuses of these, each with its codes. */
export function refusalsByStatus(contract: Contract): ReadonlyMap<number, readonly ProblemCode[]> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of refusalsOf(contract)) {
    const status = STATUS_OF[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

const Text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

const RefusalSentence = Text("The fault, in one sentence.", "'email' must be a string");

const Refusal = Type.Object(
  {
    message: RefusalSentence,
    error: Type.Optional(
      Text("The same, if the body is not JSON.", "Error while parsing request body: …"),
    ),
    code: Type.Optional(Text("The limit or rule, if it has a name.", "WORK_LIMIT_EXCEEDED")),
    errors: Type.Optional(
      Type.Array(ItemError, { description: "Every faulty item, if the request has items." }),
    ),
    path: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Integer()]), {
        description: "The place of the fault in a manifest or a body: keys and indexes.",
        examples: [["workspaces", 0, "apps"]],
      }),
    ),
  },
  { title: "Refusal", description: "Why a request was refused. Nothing was done." },
);

const ScimRefusal = Type.Object(
  {
    schemas: Type.Array(Type.String(), {
      description: "What the body is.",
      examples: [["urn:ietf:params:scim:api:messages:2.0:Error"]],
    }),
    scimType: Type.Optional(Text("The kind of fault, in the words of RFC 7644.", "invalidValue")),
    detail: Text("The fault, in one sentence.", "User not found"),
    status: Type.Integer({ description: "The HTTP status.", examples: [404] }),
  },
  { title: "ScimRefusal", description: "Why a SCIM request was refused. RFC 7644, 3.12." },
);

const TranslationRefusal = Type.Object(
  {
    errors: Type.Array(
      Type.Object({
        message: Text("The fault, in one sentence.", "The provided locale code does not exist."),
        code: Text("A stable name of the rule.", "INVALID_LOCALE_ID"),
      }),
      { description: "What is wrong." },
    ),
  },
  { title: "TranslationRefusal", description: "Why a request about translations was refused." },
);

const SCHEMA_OF: Readonly<Record<Dialect, TSchema>> = {
  message: Refusal,
  "message-and-errors": Refusal,
  scim: ScimRefusal,
  translations: TranslationRefusal,
  page: Type.String({ description: "A page with the sentence." }),
};

/** The sentence of each status that is most often seen. */
const EXAMPLE_SENTENCE: Readonly<Record<number, string>> = {
  400: "'events' must be an array",
  401: "Invalid API key",
  403: "This API key lacks the permission users.track.",
  404: "There is nothing at this path.",
  408: "The request took too long to arrive.",
  409: "A request with this Idempotency-Key is still running.",
  413: "The body is larger than 4 MB.",
  414: "The path and query are longer than 16384 characters.",
  415: "The Content-Type must be application/json.",
  422: "This Idempotency-Key was used with another request.",
  429: "You have exceeded the maximum number of requests. Please try again later.",
  431: "The path and the headers are larger than 64 KB.",
  500: "Something went wrong on our side.",
  503: "The server is overloaded. Try again.",
};

function exampleOf(dialect: Dialect, status: number): unknown {
  const sentence = EXAMPLE_SENTENCE[status] ?? "";
  if (dialect === "page") return `<!doctype html><title>${sentence}</title>`;
  if (dialect === "translations") {
    return { errors: [{ message: sentence, code: codeOf(status) }] };
  }
  if (dialect !== "scim") return { message: sentence };
  return { schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], detail: sentence, status };
}

const codeOf = (status: number) =>
  Object.entries(STATUS_OF).find(([, each]) => each === status)?.[0] ?? "";

/** A response that refuses: what each code means, the body, an example. */
export const refusalResponse = (
  dialect: Dialect,
  status: number,
  codes: readonly ProblemCode[],
) => ({
  description: codes.map((code) => `\`${code}\`: ${MEANING[code]}`).join("\n\n"),
  mediaType: MEDIA_TYPE_OF[dialect],
  schema: SCHEMA_OF[dialect],
  example: exampleOf(dialect, status),
});
