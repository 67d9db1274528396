import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OperationName, OutputOf } from "../../client/src/client.ts";
import { RAPPORT } from "../core/base/command.ts";
import { Problem } from "../core/base/problem.ts";
import { JsonText } from "../core/base/values/plain-json.ts";
import { findLocalServer, type Send } from "./local-server.ts";
import { AdminError, type AdminTarget, placeOf } from "./target.ts";
import { plain } from "./terminal.ts";

interface Refusal {
  readonly message: string;
  readonly code?: string;
  /** For a manifest: the place of the fault. */
  readonly path?: readonly (string | number)[];
  /** For a list: the faults of its objects. */
  readonly errors?: readonly object[];
}

/** The body of a success of an operation, as openapi.json describes it; or a type that says it. */
export type Reply<Wanted> = Wanted extends OperationName ? OutputOf<Wanted> : Wanted;

/**
 * Calls the admin API of a running server.
 *
 * @param path below `/admin/v1`, such as `/apply`; its parameters are encoded.
 * @param body a value, or JSON that is written already.
 * @returns the body of the answer.
 * @throws Problem INVALID_REQUEST with the body of the response, if that names the place in a
 * manifest or the objects of a list that are faulty; otherwise an AdminError with an explanation.
 */
export async function callAdmin<Wanted>(
  target: AdminTarget,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Reply<Wanted>> {
  const response = await request(target, method, path, body);
  const answer = await readAnswer(target, response);
  if (response.ok) return answer as Reply<Wanted>;
  throw refusalOf(response, answer);
}

/**
 * Opens a stream of the admin API of a running server.
 *
 * @throws in words if the server refuses it.
 */
export async function openAdmin(target: AdminTarget, path: string): Promise<Response> {
  const response = await request(target, "GET", path);
  const type = response.headers.get("content-type") ?? "";
  const isStream = type.includes("ndjson") || type.includes("event-stream");
  if (response.ok && isStream) return response;
  throw refusalOf(response, await readAnswer(target, response));
}

/**
 * Reads a list of the admin API page by page, following its `Link` header.
 *
 * @throws like `callAdmin`.
 */
export async function* openPages<Item>(target: AdminTarget, path: string): AsyncGenerator<Item[]> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const response = await request(target, "GET", next);
    const answer = await readAnswer(target, response);
    if (!response.ok) throw refusalOf(response, answer);
    yield (answer as unknown as { readonly results: Item[] }).results;
    next = /<\/admin\/v1([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
}

/**
 * A server's statement about its health, which needs no token; `ok` is false if there is a fault.
 */
export async function readHealth<Answer>(
  target: AdminTarget,
  what: "live" | "ready",
): Promise<Answer & { readonly ok: boolean }> {
  const reach = await findWay(target);
  const response = await reach(`/health/${what}`, {
    method: "GET",
    headers: {},
    body: undefined,
  }).catch((error: Error) => {
    throw new AdminError(unreachable(target, error));
  });
  const answer = await readAnswer(target, response);
  return { ...(answer as Answer), ok: response.ok };
}

async function request(
  target: AdminTarget,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const reach = await findWay(target);
  const adminToken = target.adminToken ?? (await readKeptToken(target.dataDir));
  const text = body instanceof JsonText ? body.text : body && JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${adminToken}`,
    ...(text !== undefined && { "content-type": "application/json" }),
  };
  return reach(`/admin/v1${path}`, { method, headers, body: text as string | undefined }).catch(
    (error: Error) => {
      throw new AdminError(unreachable(target, error));
    },
  );
}

/** Through the socket of the data folder, or to the address that was given. */
const findWay = async (target: AdminTarget): Promise<Send> => {
  if (target.url === undefined) return findLocalServer(target);
  const address = addressOf(target.url);
  return (path, { body, ...rest }) =>
    fetch(new URL(path, address), { ...rest, ...(body !== undefined && { body }) });
};

async function readAnswer(target: AdminTarget, response: Response): Promise<Refusal> {
  const text = await response.text().catch((error: Error) => {
    throw new AdminError(unreachable(target, error));
  });
  const answer = readJson(text);
  if (answer === undefined) throw new Error(notRapport(placeOf(target), response));
  return answer;
}

function refusalOf(response: Response, answer: Refusal): Error {
  if (answer.path ?? answer.errors)
    return new Problem("INVALID_REQUEST", answer.message, { body: { ...answer } });
  const retryAfter = Number(response.headers.get("retry-after")) || undefined;
  const { status } = response;
  return new AdminError(refusal(status, answer.message), status, retryAfter, answer.code);
}

/** The body of a response as an object; undefined if it is something else. */
function readJson(text: string): Refusal | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Refusal) : undefined;
  } catch {
    return undefined;
  }
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: "Set ADMIN_TOKEN, or pass --admin-token-file.",
  429: "Try again in a moment.",
  503: "Try again in a moment.",
};

const refusal = (status: number, message: string): string =>
  `The server refused (${status}): ${plain(message)}${REMEDIES[status] ? `. ${REMEDIES[status]}` : ""}`;

const OTHER_SERVER = "pass --url, or set RAPPORT_URL.";

function unreachable(target: AdminTarget, error: Error): string {
  const place = placeOf(target);
  const cause = (error.cause ?? error) as NodeJS.ErrnoException;
  if (cause.code === "ECONNREFUSED") {
    return `The server at ${place} cannot be reached: no program listens there. Start one with ${RAPPORT} serve, or ${OTHER_SERVER}`;
  }
  return `The server at ${place} cannot be reached: ${cause.message || error.message}. For another server ${OTHER_SERVER}`;
}

const notRapport = (url: string, { status, headers }: Response): string =>
  `The server at ${url} is not a Rapport server: it responded with ${status} and ` +
  `${headers.get("content-type") ?? "no content"} instead of JSON. For another server ${OTHER_SERVER}`;

function addressOf(url: string): string {
  if (/^https?:/.test(url) && URL.canParse(url)) return url;
  throw new Error(`'${url}' is not an address such as http://127.0.0.1:8080.`);
}

async function readKeptToken(dataDir: string): Promise<string> {
  const path = join(dataDir, "admin-token");
  const token = await readFile(path, "utf8").catch(() => undefined);
  if (token) return token.trim();
  throw new Error(
    `No admin token: set ADMIN_TOKEN, pass --admin-token-file, or run this where ${path} can be read.`,
  );
}
