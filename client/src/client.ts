import createFetch from "openapi-fetch";
import { OPERATIONS } from "./operations.ts";
import { RapportError, sentenceOf } from "./refusal.ts";
import { DEFAULT_RETRIES, type RetryOptions, sendWithRetries } from "./retry.ts";
import type { components, operations, paths } from "./schema.ts";
import { createTracker, type Tracker, type TrackerOptions } from "./tracker.ts";

export {
  type Change,
  ChangesGone,
  type ChangesPage,
  type FollowOptions,
  followChanges,
} from "./follow-changes.ts";
export { RapportError } from "./refusal.ts";
export {
  ItemRejected,
  type TrackedItem,
  type Tracker,
  type TrackerOptions,
  type Verdict,
} from "./tracker.ts";
export {
  verifyWebhook,
  WebhookError,
  type WebhookErrorCode,
  type WebhookHeaders,
  type WebhookPayload,
  type WebhookRequest,
} from "./verify-webhook.ts";
export type { components, operations, paths };

/** The schemas of the API by name: `Schemas["EventObject"]`. */
export type Schemas = components["schemas"];

/**
 * The address of the server, and the caller's credentials. Only the given credentials can be used.
 */
export interface ClientOptions extends Partial<RetryOptions> {
  readonly url: string;
  /** An API key of a workspace. */
  readonly key?: string;
  /** For the calls about dashboard users. */
  readonly scim?: { readonly token: string; readonly origin: string };
  /** For the calls under `/admin/v1`. */
  readonly adminToken?: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** The options of one call, in addition to its input. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Replaces a random one. Give it if the caller itself may be repeated. */
  readonly idempotencyKey?: string;
  /** Lets the call outlive the page of a browser. */
  readonly keepalive?: boolean;
  /** Replaces the client's. */
  readonly retries?: number;
}

export type OperationName = keyof typeof OPERATIONS & keyof operations;

type ContentOf<Part> = Part extends { content: infer Content } ? Content[keyof Content] : undefined;

type BodyOf<Name extends OperationName> = operations[Name] extends { requestBody: infer Body }
  ? { readonly body: ContentOf<Body> }
  : unknown;

type Known<Part> = Part extends undefined ? never : Part;

type ParametersOf<Name extends OperationName, Place extends "path" | "query"> = Known<
  operations[Name]["parameters"][Place]
>;

type PathOf<Name extends OperationName> = [ParametersOf<Name, "path">] extends [never]
  ? unknown
  : { readonly path: ParametersOf<Name, "path"> };

type QueryOf<Name extends OperationName> = [ParametersOf<Name, "query">] extends [never]
  ? unknown
  : Partial<ParametersOf<Name, "query">> extends ParametersOf<Name, "query">
    ? { readonly query?: ParametersOf<Name, "query"> }
    : { readonly query: ParametersOf<Name, "query"> };

/** What a call takes: `path`, `query` and `body`, as far as the operation has them. */
export type InputOf<Name extends OperationName> = PathOf<Name> & QueryOf<Name> & BodyOf<Name>;

type Succeeded<Responses> = {
  [Status in keyof Responses]: Status extends 200 | 201 | 202 | 204
    ? ContentOf<Responses[Status]>
    : never;
}[keyof Responses];

/** The body of a success. */
export type OutputOf<Name extends OperationName> = Succeeded<operations[Name]["responses"]>;

type Call<Name extends OperationName> =
  unknown extends InputOf<Name>
    ? (input?: Record<never, never>, options?: CallOptions) => Promise<OutputOf<Name>>
    : Record<never, never> extends InputOf<Name>
      ? (input?: InputOf<Name>, options?: CallOptions) => Promise<OutputOf<Name>>
      : (input: InputOf<Name>, options?: CallOptions) => Promise<OutputOf<Name>>;

type Credential = (typeof OPERATIONS)[OperationName][2];

/** The operations that need one of these credentials, each under its operationId. */
type CallsWith<Wanted extends Credential> = {
  readonly [Name in OperationName as (typeof OPERATIONS)[Name][2] extends Wanted
    ? Name
    : never]: Call<Name>;
};

/** One function for each operation of the API. */
export type Client = CallsWith<"apiKey" | "none"> & {
  /** The operations under `/admin/v1`, which need `adminToken`. */
  readonly admin: CallsWith<"adminToken">;
  /** The operations about dashboard users, which need `scim`. */
  readonly scim: CallsWith<"scimToken">;
  /** Collects attributes, events and purchases into few requests. */
  tracker(options?: Partial<TrackerOptions>): Tracker;
};

/**
 * A client of one server. It holds no connection and no timer.
 *
 * Calls return the body of a success and throw a `RapportError` for everything else. A call that may be repeated
 * (a read, PUT or DELETE, or one with an Idempotency-Key, which every writing call with a key gets) is repeated
 * with growing pauses; every call is repeated after a 429, when `Retry-After` says.
 */
export function createClient(options: ClientOptions): Client {
  const retries = { ...DEFAULT_RETRIES, ...withoutUndefined(options) };
  const send = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const http = createFetch<paths>({ baseUrl: options.url.replace(/\/+$/, "") });

  async function call(name: OperationName, input: RawInput = {}, how: CallOptions = {}) {
    const [method, path, credential, takesKey] = OPERATIONS[name];
    const isSafe = takesKey || method !== "post";
    const headers = {
      ...headersFor(options, credential, name),
      ...(takesKey && { "Idempotency-Key": how.idempotencyKey ?? newKey() }),
    };
    const timing = {
      ...retries,
      ...(how.retries !== undefined && { retries: how.retries }),
      timeoutMs: retries.timeoutMs + waitOf(input) * 1_000,
    };
    const answer = await http
      .request(
        method as "get",
        path as never,
        {
          params: { path: input.path, query: input.query },
          headers,
          ...(input.body !== undefined && { body: input.body }),
          ...(typeof input.body === "string" && { bodySerializer: (body: string) => body }),
          parseAs: "text",
          ...(how.signal && { signal: how.signal }),
          ...(how.keepalive && { keepalive: true }),
          fetch: (request: Request) => sendWithRetries(send, request, isSafe, timing),
        } as never,
      )
      .catch((error: unknown) => {
        how.signal?.throwIfAborted();
        throw new RapportError(`${name} got no response: ${error}`, 0, undefined, undefined, error);
      });
    const { data, error, response } = answer as unknown as Answered;
    if (response.ok) return isJson(response) ? JSON.parse(data as string) : data;
    const id = response.headers.get("x-request-id") ?? undefined;
    throw new RapportError(sentenceOf(error, response.status), response.status, error, id);
  }

  const callsWith = (...credentials: readonly Credential[]) =>
    Object.fromEntries(
      (Object.keys(OPERATIONS) as OperationName[])
        .filter((name) => credentials.includes(OPERATIONS[name][2]))
        .map((name) => [name, (input?: RawInput, how?: CallOptions) => call(name, input, how)]),
    );
  const calls = callsWith("apiKey", "none") as CallsWith<"apiKey" | "none">;
  return Object.assign(calls, {
    admin: callsWith("adminToken") as CallsWith<"adminToken">,
    scim: callsWith("scimToken") as CallsWith<"scimToken">,
    tracker: (wanted?: Partial<TrackerOptions>) => createTracker(calls, wanted),
  });
}

/** For how many seconds the server waits if there is nothing to say. */
const waitOf = ({ query }: RawInput): number =>
  (query as { readonly wait_s?: number } | undefined)?.wait_s ?? 0;

/** Texts, such as CSV, are returned as they are. */
const isJson = ({ status, headers }: Response): boolean =>
  status !== 204 && /\bjson\b/.test(headers.get("content-type")?.replace(/ndjson/, "") ?? "");

interface RawInput {
  readonly path?: object;
  readonly query?: object;
  readonly body?: unknown;
}

interface Answered {
  readonly data: unknown;
  readonly error: unknown;
  readonly response: Response;
}

/** @throws Error if the client was made without the operation's credential. */
function headersFor(
  { key, scim, adminToken }: ClientOptions,
  credential: Credential,
  name: string,
): Record<string, string> {
  switch (credential) {
    case "apiKey":
      return bearer(key, `${name} needs 'key'`);
    case "scimToken":
      return {
        ...bearer(scim?.token, `${name} needs 'scim'`),
        "X-Request-Origin": scim?.origin ?? "",
        "Content-Type": "application/scim+json",
      };
    case "adminToken":
      return bearer(adminToken, `${name} needs 'adminToken'`);
    default:
      return {};
  }
}

function bearer(secret: string | undefined, complaint: string): Record<string, string> {
  if (!secret) throw new Error(`${complaint}: give it to createClient.`);
  return { Authorization: `Bearer ${secret}` };
}

/** Browsers offer randomUUID only on secure pages. */
const newKey = (): string =>
  crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4))).join("-");

const withoutUndefined = <Options extends object>(options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
