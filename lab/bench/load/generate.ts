import { Pool } from "undici";
import { API_KEY } from "../processes/server.ts";
import { type Histogram, record } from "./histogram.ts";

/*
 * Sends prepared bodies over connections that stay open, and times the answers.
 *
 * Saturation is a closed loop: every connection sends its next request when it has its answer. A
 * given rate is an open loop: requests are due at fixed times whether the server keeps up or not,
 * and the latency is counted from when a request was due, so that a server that stalls is charged
 * for everybody who waits meanwhile.
 */

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** How many requests at most; undefined for as many as fit into the time. */
  readonly requests?: number | undefined;
  /** Undefined for as many as can be. */
  readonly requestsPerSecond?: number | undefined;
}

/** One request as sent. */
export interface Prepared {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Instead of Rapport's. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

export interface LoadResult {
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Answered with a success, and whole. */
  readonly acknowledged: number;
  /** How often each other outcome came: a status, `fault`, or the code of an error. */
  readonly failures: Readonly<Record<string, number>>;
  readonly latencies: Histogram;
}

/** The pause between two looks at the clock; requests due meanwhile are late by up to this. */
const TICK_MS = 1;

/** Sends one request that was due at a time (of `performance.now()`); resolves with its answer. */
type Send = (dueAt: number) => Promise<void>;

/**
 * @param next the requests in turn.
 * @param isFaulty whether a successful answer says that something was not done.
 * @param onWhole gets every acknowledged request.
 */
export async function generate(
  load: Load,
  next: () => Prepared,
  isFaulty: (answer: Buffer) => boolean,
  onWhole?: (prepared: Prepared) => void,
): Promise<LoadResult> {
  const pool = new Pool(load.url, { connections: load.connections, pipelining: 1 });
  const latencies: Histogram = [];
  const failures: Record<string, number> = {};
  let acknowledged = 0;
  let left = load.requests ?? Number.POSITIVE_INFINITY;
  const send: Send = async (dueAt) => {
    const prepared = next();
    const outcome = await request(pool, prepared, isFaulty);
    record(latencies, performance.now() - dueAt);
    if (outcome === "whole") {
      acknowledged++;
      onWhole?.(prepared);
    } else failures[outcome] = (failures[outcome] ?? 0) + 1;
  };
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1_000;
  const goesOn = () => performance.now() < endsAt && left-- > 0;
  if (load.requestsPerSecond === undefined) await saturate(send, load.connections, goesOn);
  else await keepRate(send, load.requestsPerSecond, goesOn);
  const seconds = (performance.now() - startedAt) / 1_000;
  await pool.close();
  return { seconds, acknowledged, failures, latencies };
}

/** Whether another request is to be sent; asked once for each. */
type GoesOn = () => boolean;

async function saturate(send: Send, connections: number, goesOn: GoesOn): Promise<void> {
  const keepSending = async () => {
    while (goesOn()) await send(performance.now());
  };
  await Promise.all(Array.from({ length: connections }, keepSending));
}

async function keepRate(send: Send, perSecond: number, goesOn: GoesOn): Promise<void> {
  const pauseMs = 1_000 / perSecond;
  const underWay: Promise<void>[] = [];
  for (let dueAt = performance.now(); goesOn(); dueAt += pauseMs) {
    while (dueAt > performance.now()) await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    underWay.push(send(dueAt));
  }
  await Promise.all(underWay);
}

const HEADERS = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };

/** @returns `whole` or `fault` for a success, otherwise the status or the code of the error. */
function request(
  pool: Pool,
  prepared: Prepared,
  isFaulty: (answer: Buffer) => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    let status = 0;
    const chunks: Buffer[] = [];
    pool.dispatch(
      { headers: HEADERS, ...prepared },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          if (status >= 300) resolve(String(status));
          else resolve(isFaulty(Buffer.concat(chunks)) ? "fault" : "whole");
        },
        onResponseError: (_controller, error) =>
          resolve((error as NodeJS.ErrnoException).code ?? error.name),
      },
    );
  });
}
