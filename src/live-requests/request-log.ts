import type { Clock } from "../clock.ts";
import type { AnsweredRequest } from "../http/observe.ts";

/*
 * The latest requests of API keys, in the memory of the process that got them: nothing is written anywhere, and
 * nothing survives a restart. Bodies and responses are kept as the bytes and texts that were there anyway, and
 * are read only when a person looks. docs/decisions/live-requests.md
 */

/** A request as it is kept. */
export interface KeptRequest extends AnsweredRequest {
  /** UUIDv7: sorts by time, over all processes. */
  readonly id: string;
  readonly at: Date;
}

export interface RequestLog {
  note(answered: AnsweredRequest): void;
  /** The requests of a workspace, newest first. */
  newest(workspaceId: number): Generator<KeptRequest>;
  /** How many a process keeps. */
  readonly size: number;
}

/** Larger bodies and responses are left out. */
const MOST_BODY_BYTES = 65_536;

/** What paths, bodies and responses of all kept requests may take together. */
const MOST_BYTES = 16 * 1_048_576;

/** @param size how many requests are kept; 0 keeps none. */
export function createRequestLog(clock: Clock, size: number, mostBytes = MOST_BYTES): RequestLog {
  // In the order of arrival: the first key is the oldest.
  const kept = new Map<string, KeptRequest>();
  let bytes = 0;

  const drop = (request: KeptRequest): void => {
    kept.delete(request.id);
    bytes -= bytesOf(request);
  };

  return {
    size,
    note(answered) {
      if (size === 0) return;
      const { body } = answered;
      const fits = body === undefined || body.length <= MOST_BODY_BYTES;
      const request = {
        ...answered,
        id: clock.newId(),
        at: clock.now(),
        ...(!fits && { body: undefined }),
      };
      kept.set(request.id, request);
      bytes += bytesOf(request);
      while (kept.size > size || bytes > mostBytes) drop(kept.values().next().value as KeptRequest);
    },
    *newest(workspaceId) {
      const all = [...kept.values()];
      for (let index = all.length - 1; index >= 0; index--) {
        const request = all[index] as KeptRequest;
        if (request.workspace.id === workspaceId) yield request;
      }
    },
  };
}

const bytesOf = ({ path, body, response }: KeptRequest): number =>
  path.length + (body?.length ?? 0) + (response?.length ?? 0);
