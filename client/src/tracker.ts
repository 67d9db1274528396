import type { Client, Schemas } from "./client.ts";
import { RapportError } from "./refusal.ts";

/*
 * Many callers, few requests. Items wait until a batch is full, in count or in bytes, or until its
 * first item has waited long enough. One request is under way at a time, so that items are applied
 * in the order they were added.
 *
 * A request applies attributes, then events, then purchases. If an item of a user would overtake an
 * earlier one of the same user (an attribute after an event), the batch is closed before it.
 */

/** When a batch is sent, and what happens around it. */
export interface TrackerOptions {
  /** Items in a request. 50 by default, which every workspace accepts unless it is set lower. */
  readonly maxItems: number;
  /** Bytes of a request. 1,000,000 by default. */
  readonly maxBytes: number;
  /** How long the first item of a batch waits for others. 50 by default. */
  readonly maxWaitMs: number;
  /** Items that wait at most; more are refused. 10,000 by default. */
  readonly maxQueued: number;
  /** Learns of every item that failed, for callers that do not wait for theirs. */
  readonly onRejected?: (error: ItemRejected | RapportError, item: TrackedItem) => void;
}

/** What a tracker takes. */
export type TrackedItem =
  | Schemas["AttributesObject"]
  | Schemas["EventObject"]
  | Schemas["PurchaseObject"];

/** What became of an item. */
export type Verdict =
  | { readonly outcome: "recorded" }
  | { readonly outcome: "skipped"; readonly code: string; readonly message: string };

/**
 * The server rejected an item; the others of its batch are not affected. Or the tracker did: `TRACKER_CLOSED`,
 * `TRACKER_FULL`.
 */
export class ItemRejected extends Error {
  readonly code: string;
  readonly item: TrackedItem;

  constructor(message: string, code: string, item: TrackedItem) {
    super(message);
    this.name = "ItemRejected";
    this.code = code;
    this.item = item;
  }
}

export interface Tracker {
  /**
   * Records attributes of a user. @throws ItemRejected, or RapportError if the whole request
   * failed.
   */
  attributes(item: Schemas["AttributesObject"]): Promise<Verdict>;
  /** Records an event of a user; throws as `attributes`. */
  event(item: Schemas["EventObject"]): Promise<Verdict>;
  /** Records a purchase of a user; throws as `attributes`. */
  purchase(item: Schemas["PurchaseObject"]): Promise<Verdict>;
  /** Sends what waits; resolves when everything added so far has its verdict. */
  flush(): Promise<void>;
  /** Flushes, and accepts nothing more. */
  close(): Promise<void>;
}

const ARRAYS = ["attributes", "events", "purchases"] as const;

type ArrayName = (typeof ARRAYS)[number];

interface Entry {
  readonly array: ArrayName;
  readonly item: TrackedItem;
  readonly user: string;
  readonly bytes: number;
  resolve(verdict: Verdict): void;
  reject(error: ItemRejected | RapportError): void;
}

const DEFAULTS: TrackerOptions = {
  maxItems: 50,
  maxBytes: 1_000_000,
  maxWaitMs: 50,
  maxQueued: 10_000,
};

export function createTracker(
  client: Pick<Client, "trackUsers">,
  wanted: Partial<TrackerOptions> = {},
): Tracker {
  const options = { ...DEFAULTS, ...wanted };
  const queue: Entry[] = [];
  let { maxItems } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let unsettled = 0;
  let isClosed = false;
  let isHurried = false;
  let isLeaving = false;

  function add(array: ArrayName, item: TrackedItem): Promise<Verdict> {
    const promise = new Promise<Verdict>((resolve, reject) => {
      if (isClosed) throw new ItemRejected("The tracker is closed.", "TRACKER_CLOSED", item);
      if (unsettled >= options.maxQueued) {
        throw new ItemRejected("Too many items wait to be tracked.", "TRACKER_FULL", item);
      }
      const bytes = new TextEncoder().encode(JSON.stringify(item)).length + 1;
      unsettled++;
      queue.push({ array, item, user: userOf(item), bytes, resolve, reject });
    });
    // A caller that does not wait must not end the process; `onRejected` gets it.
    promise.catch((error) => options.onRejected?.(error, item));
    schedule();
    return promise;
  }

  function schedule(): void {
    if (running || queue.length === 0) return;
    if (isHurried || batchLength(queue, maxItems, options.maxBytes).isFull) start();
    else timer ??= setTimeout(start, options.maxWaitMs);
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    running ??= run().finally(() => {
      running = undefined;
      isHurried = false;
      schedule();
    });
  }

  /** Sends what waits, batch by batch; the last one may be waiting for others still. */
  async function run(): Promise<void> {
    for (let isFirst = true; queue.length > 0; isFirst = false) {
      const { length, isFull } = batchLength(queue, maxItems, options.maxBytes);
      if (!isFirst && !isFull && !isHurried) return;
      await sendBatch(queue.splice(0, length));
    }
  }

  async function sendBatch(entries: readonly Entry[]): Promise<void> {
    try {
      const how = { keepalive: isLeaving };
      settle(entries, await client.trackUsers({ body: bodyOf(entries) as never }, how));
    } catch (error) {
      if (isTooLarge(error) && entries.length > 1) return sendHalves(entries);
      settleFailed(entries, refusalOf(error));
    }
    unsettled -= entries.length;
  }

  /** The workspace accepts fewer: later batches are no larger than the accepted size. */
  async function sendHalves(entries: readonly Entry[]): Promise<void> {
    const middle = Math.ceil(entries.length / 2);
    maxItems = Math.min(maxItems, middle);
    await sendBatch(entries.slice(0, middle));
    await sendBatch(entries.slice(middle));
  }

  async function flush(): Promise<void> {
    while (queue.length > 0 || running) {
      isHurried = true;
      start();
      await running;
    }
  }

  // The request of a page that is left goes on without it; browsers bound such requests at 64 KB.
  const stopWatching = onPageHidden(() => {
    isLeaving = true;
    void flush().finally(() => {
      isLeaving = false;
    });
  });
  return {
    attributes: (item) => add("attributes", item),
    event: (item) => add("events", item),
    purchase: (item) => add("purchases", item),
    flush,
    async close() {
      isClosed = true;
      stopWatching();
      await flush();
    },
  };
}

interface Page {
  readonly visibilityState: string;
  addEventListener(name: string, listener: () => void): void;
  removeEventListener(name: string, listener: () => void): void;
}

/** In Node the timer of a waiting batch keeps the process running until it is sent. */
function onPageHidden(hurry: () => void): () => void {
  const page = (globalThis as { document?: Page }).document;
  if (!page) return () => {};
  const listener = () => {
    if (page.visibilityState === "hidden") hurry();
  };
  page.addEventListener("visibilitychange", listener);
  return () => page.removeEventListener("visibilitychange", listener);
}

/** How many of the first entries go into one request, and whether there is no room for another. */
function batchLength(
  queue: readonly Entry[],
  maxItems: number,
  maxBytes: number,
): { readonly length: number; readonly isFull: boolean } {
  const ranks = new Map<string, number>();
  let bytes = 0;
  for (const [index, { array, user, bytes: more }] of queue.entries()) {
    const rank = ARRAYS.indexOf(array);
    const isOvertaking = rank < (ranks.get(user) ?? 0);
    bytes += more;
    if (index > 0 && (index >= maxItems || bytes > maxBytes || isOvertaking)) {
      return { length: index, isFull: true };
    }
    ranks.set(user, rank);
  }
  return { length: queue.length, isFull: queue.length >= maxItems };
}

/** One text for the user of an item. The names of one user are not known here to be one. */
function userOf(item: object): string {
  const { external_id, user_alias, platform_id, braze_id, email, phone } = item as Record<
    string,
    unknown
  >;
  if (external_id !== undefined) return `external_id ${external_id}`;
  if (user_alias !== undefined) return `alias ${JSON.stringify(user_alias)}`;
  return `other ${platform_id ?? braze_id ?? email ?? phone}`;
}

function bodyOf(entries: readonly Entry[]): Partial<Record<ArrayName, object[]>> {
  const body: Partial<Record<ArrayName, object[]>> = {};
  for (const { array, item } of entries) {
    const list = body[array] ?? [];
    list.push(item);
    body[array] = list;
  }
  return body;
}

interface Note {
  readonly input_array: string;
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

interface Outcome {
  readonly errors?: readonly Note[];
  readonly skipped?: readonly Note[];
}

/** Gives every entry the verdict at its place in its array. */
function settle(entries: readonly Entry[], { errors = [], skipped = [] }: Outcome): void {
  const placeOf = ({ input_array, index }: Note) => `${input_array} ${index}`;
  const rejected = new Map(errors.map((note) => [placeOf(note), note]));
  const ignored = new Map(skipped.map((note) => [placeOf(note), note]));
  const counts = { attributes: 0, events: 0, purchases: 0 };
  for (const { array, item, resolve, reject } of entries) {
    const place = `${array} ${counts[array]++}`;
    const [error, note] = [rejected.get(place), ignored.get(place)];
    if (error) reject(new ItemRejected(error.message, error.code, item));
    else if (note) resolve({ outcome: "skipped", code: note.code, message: note.message });
    else resolve({ outcome: "recorded" });
  }
}

/** A refusal of all items lists each of them; any other failure applies to every item. */
function settleFailed(entries: readonly Entry[], error: RapportError): void {
  const { errors = [] } = (error.body ?? {}) as Outcome;
  const isOfItems = error.status === 400;
  if (isOfItems && errors.length >= entries.length) {
    settle(entries, { errors });
    return;
  }
  for (const { reject } of entries) reject(error);
}

/** Also for what never became a request, such as a client without a key. */
const refusalOf = (error: unknown): RapportError =>
  error instanceof RapportError
    ? error
    : new RapportError(
        error instanceof Error ? error.message : String(error),
        0,
        undefined,
        undefined,
        error,
      );

const isTooLarge = (error: unknown): boolean =>
  error instanceof RapportError &&
  (error.status === 413 || (error.status === 400 && error.message === "Max Input Length Exceeded"));
