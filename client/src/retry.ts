/** How calls are repeated. */
export interface RetryOptions {
  /** How often a call is repeated at most. 4 by default. */
  readonly retries: number;
  /** The first pause; each further one is up to twice as long. 200 by default. */
  readonly firstPauseMs: number;
  /** No pause is longer, unless the server asks for it. 10,000 by default. */
  readonly longestPauseMs: number;
  /** How long one attempt may take, beside the time that it asks the server to wait. 30,000 by default. */
  readonly timeoutMs: number;
}

export const DEFAULT_RETRIES: RetryOptions = {
  retries: 4,
  firstPauseMs: 200,
  longestPauseMs: 10_000,
  timeoutMs: 30_000,
};

/** The request may have been applied: it is repeated only if that is safe. */
const UNCERTAIN = new Set([500, 502, 503, 504]);

/**
 * Sends a request until it gets a response that stays.
 *
 * @param isSafe whether applying it twice has the effect of once: reads, PUT, DELETE, and every
 * request with an Idempotency-Key.
 * @throws what `send` throws, after the last attempt; the reason of `signal` when it is aborted.
 */
export async function sendWithRetries(
  send: (request: Request) => Promise<Response>,
  request: Request,
  isSafe: boolean,
  options: RetryOptions,
): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(options.timeoutMs)]);
    const isLast = attempt >= options.retries;
    try {
      const response = await received(await send(new Request(request.clone(), { signal })));
      if (isLast || !isRepeatable(response, isSafe, attempt)) return response;
      await pause(pauseOf(attempt, options, response.headers.get("retry-after")), request.signal);
    } catch (error) {
      request.signal.throwIfAborted();
      if (isLast || !isSafe) throw error;
      await pause(pauseOf(attempt, options, null), request.signal);
    }
  }
}

/** The response with its complete body, so that a broken body is a failed attempt. */
async function received(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, response);
}

function isRepeatable({ status }: Response, isSafe: boolean, attempt: number): boolean {
  // The server did nothing, and names a time for the retry.
  if (status === 429) return true;
  // The earlier attempt of this call still runs on the server.
  if (status === 409 && attempt > 0) return isSafe;
  return isSafe && UNCERTAIN.has(status);
}

/** With full jitter, so that clients that failed together do not retry together. */
function pauseOf(attempt: number, options: RetryOptions, retryAfter: string | null): number {
  const most = Math.min(options.longestPauseMs, options.firstPauseMs * 2 ** attempt);
  const own = most / 2 + Math.random() * (most / 2);
  return Math.max(own, readRetryAfter(retryAfter));
}

/** In milliseconds; the header contains seconds or a date. */
function readRetryAfter(text: string | null): number {
  if (text === null) return 0;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds * 1_000;
  return Math.max(0, Date.parse(text) - Date.now()) || 0;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
