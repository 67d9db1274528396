import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import type { Clock } from "../../core/base/clock.ts";
import { RAPPORT_VERSION } from "../../core/base/version.ts";
import { fetchOutbound, type OutboundResponse } from "../../core/outbound/fetch-outbound.ts";
import { isUnresolved, type Outbound, OutboundRefused } from "../../core/outbound/outbound.ts";
import { readRetryAfter } from "./retry.ts";
import { signingSecrets } from "./secrets.ts";
import { signedHeaders } from "./sign.ts";
import type { StoredWebhook, WebhookKey } from "./webhook.ts";

export interface SendServices {
  readonly clock: Clock;
  readonly outbound: Outbound;
  readonly sealing: Sealing;
}

export interface Attempt {
  /** `refused`: the receiver takes the webhook but not this body. `gone`: it wants no more. `failed`: try again. */
  readonly outcome: "delivered" | "failed" | "refused" | "gone";
  /** Null without a response. */
  readonly status: number | null;
  /** The beginning of the response. */
  readonly response: string | null;
  /** Why there was no response. */
  readonly error: string | null;
  /** Whether it was not sent because Rapport may not call the host's address. */
  readonly isRefusal?: boolean;
  readonly retryAfterMs: number | undefined;
  readonly at: Date;
  readonly durationMs: number;
}

export interface Message {
  readonly id: string;
  readonly body: string;
}

const TIMEOUT_MS = 15_000;

/** How much of a response is read, for how long, and how much of it is kept. */
const MOST_READ = 65_536;
const READS_FOR_MS = 2_000;
const MOST_KEPT = 500;

/** Sends a message once, signed. Never throws, except when `signal` is aborted. */
export async function send(
  { clock, outbound, sealing }: SendServices,
  key: WebhookKey,
  webhook: StoredWebhook,
  { id, body }: Message,
  signal: AbortSignal,
): Promise<Attempt> {
  const at = clock.now();
  const begunAt = performance.now();
  const ended = () => ({ at, durationMs: Math.round(performance.now() - begunAt) });
  try {
    const secrets = signingSecrets(sealing, key, webhook, at);
    if (!secrets) throw new Error("The secret is sealed with a key that this server lacks.");
    const response = await fetchOutbound(outbound, {
      url: webhook.url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": `Rapport/${RAPPORT_VERSION}`,
        ...signedHeaders({ id, at, body }, secrets),
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const text = await beginningOf(response);
    return { ...ended(), ...verdictOn(response, clock), response: text, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return {
      ...ended(),
      outcome: "failed",
      status: null,
      response: null,
      error: sentenceOf(error, webhook),
      isRefusal: error instanceof OutboundRefused,
      retryAfterMs: undefined,
    };
  }
}

const GONE = 410;

/** The fault is not in the content: the receiver was too slow, is not ready, or is overloaded. */
const TEMPORARY = [408, 425, 429];

function verdictOn({ status, ok, headers }: OutboundResponse, clock: Clock) {
  const isRefused = Math.floor(status / 100) === 4 && !TEMPORARY.includes(status);
  const outcome = ok ? "delivered" : isRefused ? "refused" : "failed";
  return {
    status,
    outcome: status === GONE ? ("gone" as const) : (outcome as Attempt["outcome"]),
    retryAfterMs: readRetryAfter(headers["retry-after"], clock.now()),
  };
}

/** Only its status counts: an endless or broken body changes nothing. */
async function beginningOf(response: OutboundResponse): Promise<string> {
  const parts: Buffer[] = [];
  await Promise.race([
    readInto(parts, response.body),
    sleep(READS_FOR_MS, undefined, { ref: false }),
  ]);
  response.discard();
  const text = new TextDecoder().decode(Buffer.concat(parts));
  return text.replaceAll("\0", "").slice(0, MOST_KEPT).toWellFormed();
}

async function readInto(parts: Buffer[], body: Readable): Promise<void> {
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size >= MOST_READ) return;
    }
  } catch {
    // The part that came so far is enough.
  }
}

/**
 * Without an address, and the same for a name that has none: the guard hides the difference from
 * callers.
 */
function sentenceOf(error: unknown, { url }: StoredWebhook): string {
  if (error instanceof OutboundRefused || isUnresolved(error)) {
    return new OutboundRefused(new URL(url).hostname).message;
  }
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError") return "No response within 15 seconds.";
  return code === undefined ? message : `The connection failed: ${code}.`;
}
