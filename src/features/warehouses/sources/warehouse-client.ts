import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import Type from "typebox";
import { Text } from "../../../core/base/values/schemas.ts";
import {
  BodyTooLarge,
  fetchOutbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../core/outbound/fetch-outbound.ts";
import {
  createOutbound,
  type Outbound,
  OutboundRefused,
  UNGUARDED,
} from "../../../core/outbound/outbound.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { RowsCut, RowTooLarge, rowsIn } from "./json-rows.ts";
import { type Opening, SourceFailed } from "./source.ts";
import { countIn, type Values } from "./sql-table.ts";

/*
 * Requests to the HTTP interface of a warehouse: through the guard, with bounds on every response,
 * and with a few retries if they may help. A statement that has run costs money, so a page is
 * requested again rather than the statement: rows of it that were already read are left out the
 * second time.
 */

export interface ClientSettings extends Opening {
  /** The name of the warehouse in messages. */
  readonly label: string;
  /** Its address, without a slash at the end. */
  readonly base: string;
  /** The headers that prove who asks; `isRefused` after the last ones were refused. */
  authorize(client: WarehouseClient, isRefused: boolean): Promise<Record<string, string>>;
  /** The meaning of a refusal: an error, or a busy warehouse that should be asked again. */
  refusal(status: number, body: string): Error | "busy";
}

export interface WarehouseRequest extends Pick<OutboundRequest, "method" | "headers" | "body"> {
  /** A path below the base; or another address, which gets no credentials. */
  readonly path?: string;
  readonly url?: string;
  /** Whether the warehouse gave the address. A refusal means that it is too old: another try gets a new one. */
  readonly isLink?: boolean;
}

export interface WarehouseClient {
  /**
   * The body of a response as JSON; callers check that its members are what the interface promises.
   */
  json<Body>(
    request: WarehouseRequest,
  ): Promise<{ readonly status: number; readonly body: Partial<Body> }>;
  /**
   * The rows of a page, as they arrive. Before each try the request is built again, because an
   * address may expire.
   */
  rows(
    requestOf: () => Promise<WarehouseRequest>,
    member: string | undefined,
    expected: number,
  ): AsyncIterable<readonly Values[]>;
  /**
   * Waits for a statement: looks until there is an answer, less often the longer it takes. A
   * failure meanwhile, including the end of the run, cancels the statement.
   *
   * @throws SourceFailed after an hour.
   */
  wait<Answer>(look: () => Promise<Answer | undefined>, cancel: WarehouseRequest): Promise<Answer>;
}

/** A statement may wait 45 seconds for its result before the warehouse responds. */
const SILENCE_MS = 60_000;

/** How long a response of a few megabytes may take in all. */
const LONGEST_MS = 300_000;

const LARGEST_ERROR_BYTES = 65_536;

/** The first page comes with the description of the result; BigQuery's pages have up to 20 MB. */
const LARGEST_JSON_BYTES = 64 * 1_048_576;

const MOST_TRIES = 4;

const WAITS = [200, 1_000, 4_000];

const LONGEST_WAIT_MS = 30_000;

const LONGEST_PAUSE_MS = 5_000;

/** An hour, with pauses of five seconds. */
const MOST_LOOKS = 720;

const CANCEL_MS = 5_000;

/** Errors that a retry may fix; thrown inside only. */
class Passing extends Error {
  readonly waitMs: number | undefined;
  constructor(message: string, cause?: unknown, waitMs?: number) {
    super(message, { cause });
    this.waitMs = waitMs;
  }
}

/** A client for the HTTP interface of one warehouse; it logs in with its first request. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its requests share one signal and one login.
export function createClient(settings: ClientSettings): WarehouseClient {
  const { label, base, signal, outbound } = settings;
  let headers: Promise<Record<string, string>> | undefined;
  let linked: Promise<Outbound> | undefined;

  async function call(request: WarehouseRequest, deadline: AbortSignal): Promise<OutboundResponse> {
    const { path, url = `${base}${path}`, isLink, ...rest } = request;
    const isForeign = path === undefined;
    headers ??= isForeign ? undefined : settings.authorize(client, false);
    const credentials = isForeign ? {} : await headers;
    const sent = { accept: "application/json", "accept-encoding": "gzip", ...credentials };
    if (isLink) {
      if (base.startsWith("https:") && !url.startsWith("https:")) {
        throw new SourceFailed(undefined, `${label} gives a link that is not encrypted.`);
      }
      linked ??= outboundOfLinks(outbound, base);
    }
    return fetchOutbound(isLink ? await (linked as Promise<Outbound>) : outbound, {
      ...rest,
      url,
      headers: { ...sent, ...rest.headers },
      signal: deadline,
      silenceMs: SILENCE_MS,
    });
  }

  /** One try. @throws Passing where another may help. */
  async function send(request: WarehouseRequest, deadline: AbortSignal, isLast: boolean) {
    const response = await call(request, deadline);
    if (response.ok) return response;
    const { status } = response;
    const text = await response.text(LARGEST_ERROR_BYTES).catch(() => "");
    if (status === 401 && request.path !== undefined && !isLast) {
      // Tokens expire, also between two pages.
      headers = settings.authorize(client, true);
      // It may fail before the next try waits for it.
      headers.catch(() => {});
      throw new Passing("the login was refused", undefined, 0);
    }
    const isPassing = isBusy(status) || request.isLink;
    const refusal = isPassing ? "busy" : settings.refusal(status, text);
    if (refusal !== "busy") throw refusal;
    const cause = new Error(`${status}: ${text.slice(0, 1_000)}`);
    throw new Passing(`${label} is busy (status ${status}).`, cause, waitOf(response));
  }

  /** Tries again as often as it may help. The work learns whether it is the last time. */
  async function tryAgain<Done>(work: (isLast: boolean) => Promise<Done>): Promise<Done> {
    for (let tried = 1; ; tried++) {
      try {
        return await work(tried === MOST_TRIES);
      } catch (error) {
        await afterFault(error, tried);
      }
    }
  }

  /** Waits, if another try may help. @throws the error that the fault means for the run. */
  async function afterFault(error: unknown, tried: number): Promise<void> {
    signal.throwIfAborted();
    if (error instanceof SourceFailed || error instanceof SourceUnfit) throw error;
    if (error instanceof OutboundRefused) throw new ConnectionUnfit(error.message, error);
    if (error instanceof RowTooLarge || error instanceof BodyTooLarge) {
      throw new SourceFailed(error, `${label} sends more than was asked for.`);
    }
    if (tried >= MOST_TRIES) {
      if (error instanceof Passing) throw new SourceFailed(error.cause, error.message);
      if (error instanceof RowsCut) throw new SourceFailed(error, `${label} cut a page off.`);
      throw new SourceFailed(error);
    }
    const waitMs = (error as Partial<Passing>).waitMs ?? WAITS[tried - 1];
    await pause(waitMs, undefined, { signal });
  }

  const client: WarehouseClient = {
    json: <Body>(request: WarehouseRequest) =>
      tryAgain(async (isLast) => {
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
        const response = await send(request, deadline, isLast);
        const text = await response.text(LARGEST_JSON_BYTES);
        return { status: response.status, body: parse<Body>(text || "{}") };
      }),

    async *rows(requestOf, member, expected) {
      let read = 0;
      for (let tried = 1; ; tried++) {
        let passed = 0;
        try {
          const response = await send(await requestOf(), signal, tried === MOST_TRIES);
          for await (const rows of rowsIn(response.inTime(), member)) {
            const fresh = rows.slice(Math.max(0, read - passed)) as Values[];
            passed += rows.length;
            if (passed > expected) throw new RowTooLarge(`more than ${expected} rows`);
            if (fresh.length === 0) continue;
            read += fresh.length;
            yield fresh;
          }
          if (passed !== expected) throw new RowsCut(`${passed} of ${expected} rows`);
          return;
        } catch (error) {
          await afterFault(error, tried);
        }
      }
    },

    async wait(look, cancel) {
      try {
        for (let looks = 0; looks < MOST_LOOKS; looks++) {
          await pause(Math.min(50 * 2 ** looks, LONGEST_PAUSE_MS), undefined, { signal });
          const answer = await look();
          if (answer !== undefined) return answer;
        }
        throw new SourceFailed(undefined, `${label} did not finish the statement within an hour.`);
      } catch (error) {
        // It may have ended; and what matters is the error before.
        const cancelled = call(cancel, AbortSignal.timeout(CANCEL_MS));
        await cancelled.then(({ discard }) => discard()).catch(() => {});
        throw error;
      }
    },
  };
  return client;
}

/** The guard for every link that a warehouse returns. */
const PUBLIC = createOutbound({ allow: [], own: [] });

/** Tells whether the host of an inline declaration is public. */
const DECLARED = createOutbound({ allow: [], own: [], trustsNames: true });

/**
 * The links of a connection may point to the same places as the connection. Inline declarations of
 * an administrator may point anywhere, but a link is not declared: it may only point to public
 * hosts, unless the warehouse itself is on a private one.
 */
async function outboundOfLinks(outbound: Outbound, base: string): Promise<Outbound> {
  if (outbound !== UNGUARDED) return outbound;
  const { host, port } = hostAndPortOf(base);
  try {
    await DECLARED.resolve(host, port);
    return PUBLIC;
  } catch (error) {
    if (error instanceof OutboundRefused) return UNGUARDED;
    throw error;
  }
}

/** How many rows each part of a result has. @throws SourceFailed unless they are all rows of the result. */
export function partsOf(said: readonly unknown[], total: number): number[] {
  const parts = said.map(countIn);
  if (parts.reduce((sum, part) => sum + part, 0) === total) return parts;
  throw new SourceFailed(undefined, "the parts of the result do not have all its rows.");
}

const isBusy = (status: number): boolean => [408, 429, 500, 502, 503, 504].includes(status);

function parse<Body>(text: string): Partial<Body> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    throw new RowsCut("no valid JSON");
  }
}

/** The requested delay in milliseconds; undefined if the server asks for none. */
function waitOf({ headers }: OutboundResponse): number | undefined {
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1_000, LONGEST_WAIT_MS) : undefined;
}

/** A PEM block whose line breaks were lost in a form or a variable, or are written as `\n`. */
const withLines = (pem: string): string =>
  pem
    .replaceAll("\\n", "\n")
    .replace(
      /-----BEGIN ([A-Z ]+)-----([^\n-]+)-----END \1-----/,
      (_all, label: string, body: string) =>
        `-----BEGIN ${label}-----\n${body.replaceAll(/\s+/g, "")}\n-----END ${label}-----`,
    );

/** The private key of a login. @throws ConnectionUnfit */
export function privateKeyOf(pem: string, passphrase?: string): KeyObject {
  try {
    const key = withLines(pem);
    return createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    throw new ConnectionUnfit(
      "The private key cannot be read: it is a PEM block of an RSA key, and needs its passphrase if it has one.",
      error,
    );
  }
}

/** A JSON Web Token (RFC 7519), signed with RS256. */
export function signToken(key: KeyObject, header: object, claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "RS256", typ: "JWT", ...header })}.${encode(claims)}`;
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(key, "base64url")}`;
}

/** An address other than the vendor's own, as the company declares it. */
export const endpointSetting = Type.Optional(
  Type.Refine(
    Text(
      "An address other than the vendor's own, such as https://proxy.example:8443.",
      "https://proxy.example:8443",
      { maxLength: 2_048 },
    ),
    (url) => /^https?:\/\//.test(url) && URL.canParse(url),
    () => "must begin with https:// or http://",
  ),
);

/** The address of a warehouse: the declared endpoint, or the vendor's. */
export const baseOf = (endpoint: string | undefined, host: string): string =>
  (endpoint ?? `https://${host}`).replace(/\/+$/, "");

/** The host and port of a URL, with the default port of its protocol. */
export function hostAndPortOf(address: string): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(address);
  return { host: hostname, port: Number(port || (protocol === "http:" ? 80 : 443)) };
}
