import type { ReferencePart } from "../../core/feature.ts";
import { type Contract, pathsOf } from "../../core/http/endpoint.ts";
import { openApiDocument } from "./openapi.ts";
import { webhooksOf } from "./webhooks.ts";

/* The two OpenAPI documents: what programs call, and what administrators do. Each path is in one of them. */

const CALLS = `Send \`Authorization: Bearer KEY\`, and JSON as \`Content-Type: application/json\`. A 2xx response means that the
write is committed and visible to the next request.`;

const ABOUT = `The API of Rapport, an open customer-engagement data server.

${CALLS}

* **Verdicts.** Items of a request are checked one by one. \`errors\` lists those that were rejected, \`skipped\` those
  that are valid and had no effect, each with its list, its index, a stable code and a sentence.
* **Retries.** A request with an \`Idempotency-Key\` is applied once. Repeated within 24 hours it gets the first
  response again. 429 and 5xx are not final: retry with the same key after \`Retry-After\` seconds.
* **Limits.** Responses to requests that the key may make carry \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\`.
* **Support.** Every response carries \`X-Request-Id\`, under which the logs know the request.
`;

const ABOUT_ADMIN = `The calls of administrators: workspaces, keys, resources, user data, and the sessions of the dashboard.

${CALLS} KEY is the admin token.

* **Resources.** PUT replaces a resource, PATCH changes the given fields (RFC 7396). Both are audited.
* **Support.** Every response carries \`X-Request-Id\`, under which the logs know the request.
`;

const HEADS = {
  "openapi.json": {
    title: "Rapport",
    summary: "An open customer-engagement data server.",
    about: ABOUT,
    webhooks: webhooksOf,
  },
  "openapi-admin.json": {
    title: "Rapport: admin API",
    summary: "How administrators manage Rapport.",
    about: ABOUT_ADMIN,
  },
} as const;

export type DocumentFile = keyof typeof HEADS;

/** Where the documents are in the package; the server serves each at its name. */
export const DOCUMENT_FILES = Object.keys(HEADS) as readonly DocumentFile[];

const fileOf = (contract: Contract): DocumentFile =>
  /^\/(?:admin|dashboard)(?:\/|$)/.test(pathsOf(contract)[0] ?? "")
    ? "openapi-admin.json"
    : "openapi.json";

/** The documents of these endpoints, by file. */
export const openApiDocuments = (
  contracts: readonly Contract[],
  reference: readonly ReferencePart[],
  version: string,
): Readonly<Record<DocumentFile, Record<string, unknown>>> =>
  Object.fromEntries(
    DOCUMENT_FILES.map((file) => {
      const contents = contracts.filter((contract) => fileOf(contract) === file);
      return [file, openApiDocument(HEADS[file], contents, reference, version)];
    }),
  ) as Record<DocumentFile, Record<string, unknown>>;

/**
 * A document as its file has it: compact, with a line for each operation and each component, so that a change of one
 * is a change of one line.
 */
export const textOfDocument = (document: object): string => `${linesOf(document, 3)}\n`;

/** @param depth how many levels of members get lines of their own. */
function linesOf(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== "object" || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${linesOf(member, depth - 1)}`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n}`;
}
