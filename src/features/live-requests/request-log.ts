import { hostname } from "node:os";
import type { Clock } from "../../core/base/clock.ts";
import type { AnsweredRequest } from "../../core/http/observe.ts";

/*
 * The latest requests of API keys, in the memory of the process that got them. Bodies and responses
 * are kept as the bytes and texts that exist anyway, and are read only when a person looks;
 * `share-requests.ts` records some of them. docs/decisions/live-requests.md
 */

export interface KeptRequest extends AnsweredRequest {
  /** UUIDv7: sorts by time, over all processes. */
  readonly id: string;
  readonly at: Date;
  /** The name of the process that got it. */
  readonly server: string;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Larger bodies and responses are left out. */
const MOST_BODY_BYTES = 65_536;

/** The limit for paths, bodies and responses of all kept requests together. */
const MOST_BYTES = 16 * 1_048_576;

/** @param size how many requests are kept; 0 keeps none. */
export function createRequestLog(clock: Clock, size: number) {
  const server = `${hostname()} (process ${process.pid})`;
  // A ring in the order of arrival: the oldest is at `first`.
  const kept: (KeptRequest | undefined)[] = Array.from({ length: size });
  let first = 0;
  let count = 0;
  let bytes = 0;

  function dropOldest(): void {
    bytes -= bytesOf(kept[first] as KeptRequest);
    kept[first] = undefined;
    first = (first + 1) % size;
    count--;
  }

  return {
    /** Tells the logs of several processes apart. */
    id: clock.newId(),
    /** The name of this process. */
    server,
    /** How many a process keeps. */
    size,
    note(answered: AnsweredRequest) {
      if (size === 0) return;
      const { body } = answered;
      const fits = body === undefined || body.length <= MOST_BODY_BYTES;
      const request = {
        ...answered,
        body: fits ? body : undefined,
        id: clock.newId(),
        at: clock.now(),
        server,
      };
      if (count === size) dropOldest();
      kept[(first + count) % size] = request;
      count++;
      bytes += bytesOf(request);
      while (bytes > MOST_BYTES) dropOldest();
    },
    *newest(workspaceId: number) {
      for (let back = count - 1; back >= 0; back--) {
        const request = kept[(first + back) % size] as KeptRequest;
        if (request.workspace.id === workspaceId) yield request;
      }
    },
    forget(workspaceId: number, matches: (request: KeptRequest) => boolean) {
      const stays: KeptRequest[] = [];
      for (let place = 0; place < count; place++) {
        const request = kept[(first + place) % size] as KeptRequest;
        if (request.workspace.id !== workspaceId || !matches(request)) stays.push(request);
      }
      kept.fill(undefined);
      for (const [place, request] of stays.entries()) kept[place] = request;
      first = 0;
      count = stays.length;
      bytes = stays.reduce((sum, request) => sum + bytesOf(request), 0);
    },
    /** The requests of all workspaces that came in after this one, or all, in the order of arrival. */
    after(id: string | undefined) {
      const found: KeptRequest[] = [];
      for (let back = count - 1; back >= 0; back--) {
        const request = kept[(first + back) % size] as KeptRequest;
        if (id !== undefined && request.id <= id) break;
        found.push(request);
      }
      return found.reverse();
    },
    latest: () => (count === 0 ? undefined : kept[(first + count - 1) % size]?.id),
  };
}

/** The approximate memory of a request. */
export const bytesOf = ({ path, body, response, notes }: KeptRequest): number =>
  path.length + (body?.length ?? 0) + (response?.length ?? 0) + notes.length * BYTES_OF_NOTE;

/** The approximate memory of a note: its message is a sentence. */
const BYTES_OF_NOTE = 300;
