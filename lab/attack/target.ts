import { request } from "node:http";
import { ATTACKER_KEY, type AttackedServer, SCIM_ORIGIN, SCIM_TOKEN } from "./attacked-server.ts";

/** A response, as far as an attack looks at it. */
export interface Heard {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface SendOptions {
  /** Sent as `Authorization: Bearer`; by default the key of the attacker. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The target of an attack. */
export interface Target {
  readonly server: AttackedServer;
  readonly host: string;
  readonly port: number;
  /** How many times smaller than the real attack this one is: 1 for `npm run attack`, more in tests. */
  readonly shrink: number;
  send(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Heard>;
  admin(method: string, path: string, body?: unknown): Promise<Heard>;
  scim(method: string, path: string, body?: unknown): Promise<Heard>;
}

export interface Attack {
  readonly name: string;
  /** Its effect before there was a defence: the figures of the penetration test. */
  readonly before: string;
  /** Engines that it is about; both without it. */
  readonly only?: "embedded" | "postgres";
  /** Requests of others cannot be served meanwhile, and are refused with 503. */
  readonly stopsDatabase?: true;
  /** Bounds in addition to the stalls and refusals that every attack is measured by. */
  readonly bounds?: {
    readonly healthP99Ms?: number;
    /** How much memory the server may take for it. */
    readonly grownMb?: number;
    /**
     * The share of others' track requests that are served during the attack, compared with the time
     * without it.
     */
    readonly trackShare?: number;
  };
  /** Preparations; they are not measured. */
  prepare?(target: Target): Promise<void>;
  /**
   * @returns the result, in a few words.
   * @throws Undefended
   */
  run(target: Target): Promise<string>;
}

/** An attack had a forbidden effect. */
export class Undefended extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Undefended";
  }
}

/** @throws Undefended unless the condition holds. */
export function mustHold(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Undefended(otherwise);
}

export function targetOf(server: AttackedServer, shrink = 1): Target {
  const { hostname, port } = new URL(server.url);
  const send: Target["send"] = (method, path, body, options) =>
    sendTo(server.url + path, method, body, options);
  return {
    server,
    host: hostname,
    port: Number(port),
    shrink,
    send,
    admin: (method, path, body) => send(method, path, body, { token: server.adminToken }),
    scim: (method, path, body) =>
      send(method, path, body, { token: SCIM_TOKEN, headers: { "x-request-origin": SCIM_ORIGIN } }),
  };
}

/** A text is sent unchanged, anything else as JSON. A connection that breaks has the status 0. */
function sendTo(
  url: string,
  method: string,
  body: unknown,
  { token = ATTACKER_KEY, headers }: SendOptions = {},
): Promise<Heard> {
  const bytes = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = request(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(bytes && {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(bytes),
        }),
        ...headers,
      },
    });
    sent.once("error", () => resolve({ status: 0, text: "", headers: {} }));
    sent.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.once("close", () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
      );
    });
    sent.end(bytes);
  });
}

/**
 * Statuses with how often each came, such as `3 × 201, 1 × 400`.
 *
 * @throws Undefended for a 5xx other than 503.
 */
export function tally(responses: readonly Heard[]): string {
  const counts = new Map<number, number>();
  for (const { status, text } of responses) {
    mustHold(status < 500 || status === 503, `A response is ${status}: ${text.slice(0, 200)}`);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(", ");
}

/** A count of the real attack, smaller in tests. */
export const scaled = ({ shrink }: Target, count: number): number =>
  Math.max(1, Math.round(count / shrink));

export const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
