import { LRUCache } from "lru-cache";
import { Problem } from "../../base/problem.ts";

/*
 * Pages need no key, so requests to them are counted per client address and, once the link is known to
 * be genuine, per workspace. Requests of mail programs (RFC 8058) come from few addresses for many
 * readers and are refusals: they are counted apart and may be far more.
 */

export interface PageRequest {
  /** The client's IP address. */
  readonly address: string | null;
  readonly isOneClick: boolean;
}

export interface PageLimits {
  /** Counts a request before its link is read. @throws Problem RATE_LIMITED */
  countForAddress(request: PageRequest): void;
  /** Counts a request with a genuine link. @throws Problem RATE_LIMITED */
  countForWorkspace(workspaceId: number, request: PageRequest): void;
}

/** How many times the limit of one address a workspace may have, and a mail program. */
const WORKSPACE_FACTOR = 50;
const ONE_CLICK_FACTOR = 10;

/** Counters in memory; the one that was unused longest goes first. About 100 bytes each. */
const MOST_COUNTERS = 20_000;

/** How much of its limit is left, and as of when. */
interface Counter {
  left: number;
  atMs: number;
}

/**
 * Counts in this process alone. An unused counter fills up within a minute, so a burst may be as large
 * as the limit.
 *
 * @param perMinute the limit of one address.
 * @param nowMs a clock that never goes back.
 */
export function createPageLimits(perMinute: number, nowMs = () => performance.now()): PageLimits {
  const addresses = new LRUCache<string, Counter>({ max: MOST_COUNTERS });
  // Apart, so that many addresses cannot push out the counter of a workspace.
  const workspaces = new LRUCache<string, Counter>({ max: MOST_COUNTERS });

  function count(counters: LRUCache<string, Counter>, name: string, limit: number): void {
    const now = nowMs();
    const counter = counters.get(name) ?? { left: limit, atMs: now };
    const left = Math.min(limit, counter.left + ((now - counter.atMs) * limit) / 60_000);
    counters.set(name, { left: left < 1 ? left : left - 1, atMs: now });
    if (left >= 1) return;
    throw new Problem("RATE_LIMITED", "Too many requests. Try again in a minute.", {
      retryAfterSeconds: Math.ceil(((1 - left) * 60) / limit),
    });
  }

  const limitOf = ({ isOneClick }: PageRequest) => perMinute * (isOneClick ? ONE_CLICK_FACTOR : 1);
  const kindOf = ({ isOneClick }: PageRequest) => (isOneClick ? "one-click" : "page");

  return {
    countForAddress(request) {
      if (request.address === null) return;
      const name = `${kindOf(request)} ${networkOf(request.address)}`;
      count(addresses, name, limitOf(request));
    },
    countForWorkspace(workspaceId, request) {
      const name = `${kindOf(request)} ${workspaceId}`;
      count(workspaces, name, limitOf(request) * WORKSPACE_FACTOR);
    },
  };
}

/** The address; of IPv6 the first 64 bits, because one client has all the rest. */
function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail = ""] = address.split("::");
  const groups = [head, tail].map((part) => part.split(":").filter(Boolean));
  const [first = [], last = []] = groups;
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}
