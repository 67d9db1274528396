/* How torture sends requests: again and again, with the same Idempotency-Key, until one is acknowledged. */
import { randomUUID } from "node:crypto";
import { ADMIN_TOKEN, type TorturedServer } from "./servers.ts";

/**
 * Longer than a restart on a slow machine takes. A request without a response for this long is a
 * fault.
 */
export const PATIENCE_MS = 120_000;

/**
 * The share of requests with an Idempotency-Key that lose their connection, regardless of the
 * servers.
 */
const SHARE_HUNG_UP = 0.05;
const LATEST_HANG_UP_MS = 30;

export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

export interface TortureClient {
  /** Sends a request of the workspace until it gets a response that is no 429 and no 5xx. */
  call(key: string, path: string, body: unknown): Promise<Response>;
  /**
   * The same without an Idempotency-Key, and so only once.
   *
   * @returns undefined if it is not known what became of it.
   */
  callOnce(key: string, path: string, body: unknown): Promise<Response | undefined>;
  read(key: string, path: string): Promise<Response>;
  /**
   * The same for an administrator, whose requests have no Idempotency-Key: for requests that may be
   * repeated.
   */
  admin(method: string, path: string, body?: unknown): Promise<Response>;
  /** Sends a request of an administrator once. @returns undefined if the connection breaks. */
  adminOnce(path: string, body: unknown): Promise<Response | undefined>;
  readonly counts: { acknowledged: number; broken: number; unavailable: number };
}

export function createClient(servers: readonly TorturedServer[]): TortureClient {
  const counts = { acknowledged: 0, broken: 0, unavailable: 0 };
  let turn = 0;

  async function once(method: string, path: string, token: string, body: unknown, key?: string) {
    const up = servers.filter(({ url }) => url !== undefined);
    const server = up[turn++ % up.length];
    if (!server) return undefined;
    try {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(key && { "idempotency-key": key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(key && Math.random() < SHARE_HUNG_UP && { signal: hangUpSoon() }),
      });
      const { status, headers } = response;
      return { status, headers, body: (await response.json()) as any };
    } catch {
      counts.broken++;
      return undefined;
    }
  }

  async function untilAcknowledged(send: () => Promise<Response | undefined>, what: string) {
    for (const giveUpAt = Date.now() + PATIENCE_MS; ; ) {
      const response = await send();
      if (response && !isToBeRepeated(response)) {
        counts.acknowledged++;
        return response;
      }
      if (response?.status === 500) throw new Error(`${what}: ${JSON.stringify(response.body)}`);
      if (response) counts.unavailable++;
      if (Date.now() > giveUpAt)
        throw new Error(`${what} is not acknowledged: ${response?.status}`);
      await pause(20 + Math.random() * 80);
    }
  }

  return {
    counts,
    call(key, path, body) {
      const idempotencyKey = randomUUID();
      return untilAcknowledged(() => once("POST", path, key, body, idempotencyKey), path);
    },
    async callOnce(key, path, body) {
      const response = await once("POST", path, key, body);
      if (response?.status === 500) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
      if (response && isToBeRepeated(response)) counts.unavailable++;
      else if (response) counts.acknowledged++;
      return response && !isToBeRepeated(response) ? response : undefined;
    },
    read: (key, path) => untilAcknowledged(() => once("GET", path, key, undefined), path),
    admin: (method, path, body) =>
      untilAcknowledged(() => once(method, path, ADMIN_TOKEN, body), path),
    adminOnce: (path, body) => once("POST", path, ADMIN_TOKEN, body),
  };
}

/** By then the server may have done all of it, a part, or nothing: the next try has to find out. */
const hangUpSoon = () => AbortSignal.timeout(Math.ceil(Math.random() * LATEST_HANG_UP_MS));

/** Even if the first try is still running after its connection was lost. */
const isToBeRepeated = ({ status, body }: Response): boolean =>
  status >= 500 || status === 429 || (status === 409 && /still running/.test(body.message));

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
