import { createAllowance } from "../../base/allowance.ts";
import { networkOf } from "../../base/outbound/networks.ts";
import { Problem, type ProblemDetails } from "../../base/problem.ts";

/* Requests without a valid secret are counted by address; a valid secret is never refused for them. */

/** The kind of secret that the request needed. */
export type AttemptKind = "key" | "scim" | "administrator" | "session" | "link";

const SENTENCES: Readonly<Record<AttemptKind, string>> = {
  key: "Invalid API key",
  scim: "Invalid SCIM token",
  administrator: "Invalid admin token",
  session: "You are not signed in, or the session has ended.",
  link: "This sign-in link was used or has expired. Get a new one with: rapport sign-in",
};

const MOST_ADDRESSES = 10_000;

export interface FailedAttempts {
  /**
   * Counts a request without a valid secret.
   *
   * @param body further members of the response's body.
   * @returns UNAUTHENTICATED; RATE_LIMITED once the address has used up its attempts of this minute.
   */
  refuse(kind: AttemptKind, address: string, body?: ProblemDetails["body"]): Problem;
}

/** @param mostPerMinute attempts of one network (`networkOf`). */
export function createFailedAttempts(
  mostPerMinute: number,
  metrics: { failedAuthentication(kind: AttemptKind): void },
  nowMs?: () => number,
): FailedAttempts {
  const allowance = createAllowance(MOST_ADDRESSES, nowMs);
  return {
    refuse(kind, address, body = {}) {
      metrics.failedAuthentication(kind);
      const retryAfterSeconds = allowance.take(networkOf(address), mostPerMinute);
      if (retryAfterSeconds === 0) return new Problem("UNAUTHENTICATED", SENTENCES[kind], { body });
      return new Problem(
        "RATE_LIMITED",
        "Too many requests without a valid secret came from this address.",
        { retryAfterSeconds },
      );
    },
  };
}
