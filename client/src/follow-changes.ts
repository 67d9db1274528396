import type { Client, Schemas } from "./client.ts";
import { RapportError } from "./refusal.ts";
import type { operations } from "./schema.ts";

/** A change of the feed; `type` tells what else it has. Later servers may send types that this client does not know. */
export type Change = Schemas["Change"];

/** A part of the feed, in its order. */
export type ChangesPage = operations["getChanges"]["responses"][200]["content"]["application/json"];

type Query = NonNullable<operations["getChanges"]["parameters"]["query"]>;

export interface FollowOptions extends Omit<Query, "cursor" | "types"> {
  /**
   * The cursor of the last processed page, or `beginning` for the oldest change. Without it: only
   * changes from now on.
   */
  readonly cursor?: string | undefined;
  /** Only these types. */
  readonly types?: readonly Change["type"][];
  /** For how many seconds a request waits for the next change: 1 to 60, 30 by default. The first one does not wait. */
  readonly wait_s?: number;
  /** Ends the loop. A page that is being processed is not affected. */
  readonly signal?: AbortSignal;
  /** How often a request is repeated before the loop fails: 60 by default, which takes minutes. */
  readonly retries?: number;
}

/** The changes after the cursor are not kept any more. Export all users, then follow from `oldest`. */
export class ChangesGone extends RapportError {
  /** The cursor before the oldest change that is kept. */
  readonly oldest: string;

  constructor({ message, status, body, requestId }: RapportError, oldest: string) {
    super(message, status, body, requestId);
    this.name = "ChangesGone";
    this.oldest = oldest;
  }
}

/**
 * Reads the change feed page by page, and waits for further changes, until `signal` is aborted.
 *
 * Store the `cursor` of a page once its changes are processed, and begin there the next time: after
 * a crash you get the last page again, and lose nothing. A page may have no changes; its cursor
 * counts as well. Without a cursor the first request has none, and its response says where to
 * begin. One page is in memory: the next one is requested once the loop asks for it.
 *
 * @throws ChangesGone if the changes after `cursor` have been deleted; RapportError if the server
 * refuses the request, or does not respond in spite of all retries; RangeError for an
 *   impossible option.
 */
export async function* followChanges(
  client: Pick<Client, "getChanges">,
  { types, cursor: first, wait_s = 30, retries = 60, signal, ...query }: FollowOptions = {},
): AsyncGenerator<ChangesPage, void, undefined> {
  if (!(wait_s >= 1)) throw new RangeError("'wait_s' must be at least 1.");
  // The server treats an empty value like a missing one: it would begin now, and send all types.
  if (first === "") throw new RangeError("'cursor' must not be empty.");
  if (types?.length === 0) throw new RangeError("'types' must not be empty.");
  const wanted = { ...query, ...(types && { types: types.join() }) };
  let cursor = first;
  // The first request does not wait: it returns the present position of the feed, so that the
  // caller has a cursor from then on.
  for (let wait = 0; !signal?.aborted; wait = wait_s) {
    const place = { ...(cursor !== undefined && { cursor }), wait_s: wait };
    const page = await readPage(client, { ...wanted, ...place }, { retries, signal });
    if (!page) return;
    ({ cursor } = page);
    yield page;
  }
}

/** @returns undefined if the signal was aborted. */
async function readPage(
  client: Pick<Client, "getChanges">,
  query: Query,
  { retries, signal }: { readonly retries: number; readonly signal: AbortSignal | undefined },
): Promise<ChangesPage | undefined> {
  // Each request has its own signal: listeners on a signal that lives for months are kept as long.
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal?.addEventListener("abort", abort);
  try {
    return await client.getChanges({ query }, { retries, signal: stop.signal });
  } catch (error) {
    if (signal?.aborted) return undefined;
    const { oldest } = ((error as RapportError).body ?? {}) as { oldest?: unknown };
    if (error instanceof RapportError && error.status === 410 && typeof oldest === "string") {
      throw new ChangesGone(error, oldest);
    }
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
