import { type Allowance, createAllowance } from "../../core/base/allowance.ts";
import { Problem } from "../../core/base/problem.ts";
import { networkOf } from "../../core/outbound/networks.ts";

/*
 * Pages need no key, so requests to them are counted per client address and, once the link is known
 * to be genuine, per workspace. Requests of mail programs (RFC 8058) come from few addresses for
 * many readers and are refusals: they are counted separately and may be far more.
 */

export interface PageRequest {
  /** The client's IP address. */
  readonly address: string | null;
  readonly isOneClick: boolean;
}

export type PageLimits = ReturnType<typeof createPageLimits>;

/** How many times the limit of one address a workspace may have, and a mail program. */
const WORKSPACE_FACTOR = 50;
const ONE_CLICK_FACTOR = 10;

/** The most networks and workspaces that are counted. */
const MOST_COUNTED = 20_000;

/** @param perMinute the limit of one network (`networkOf`). */
export function createPageLimits(perMinute: number, nowMs?: () => number) {
  const addresses = createAllowance(MOST_COUNTED, nowMs);
  // Apart, so that many addresses cannot push out the counter of a workspace.
  const workspaces = createAllowance(MOST_COUNTED, nowMs);

  function count(allowance: Allowance, name: string, limit: number): void {
    const retryAfterSeconds = allowance.take(name, limit);
    if (retryAfterSeconds === 0) return;
    throw new Problem("RATE_LIMITED", "Too many requests. Try again in a minute.", {
      retryAfterSeconds,
    });
  }

  const limitOf = ({ isOneClick }: PageRequest) => perMinute * (isOneClick ? ONE_CLICK_FACTOR : 1);
  const kindOf = ({ isOneClick }: PageRequest) => (isOneClick ? "one-click" : "page");

  return {
    /** Counts a request before its link is read. @throws Problem RATE_LIMITED */
    countForAddress(request: PageRequest) {
      if (request.address === null) return;
      const name = `${kindOf(request)} ${networkOf(request.address)}`;
      count(addresses, name, limitOf(request));
    },
    /** Counts a request with a genuine link. @throws Problem RATE_LIMITED */
    countForWorkspace(workspaceId: number, request: PageRequest) {
      const name = `${kindOf(request)} ${workspaceId}`;
      count(workspaces, name, limitOf(request) * WORKSPACE_FACTOR);
    },
  };
}
