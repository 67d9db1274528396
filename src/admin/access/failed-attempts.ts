import { isIP } from "node:net";
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

const WINDOW_MS = 60_000;

/** Beyond that, the address with the oldest attempt is dropped. */
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

/** Uses a monotonic clock, so that a clock jump locks out no address. */
export function createFailedAttempts(
  mostPerMinute: number,
  metrics: { failedAuthentication(kind: AttemptKind): void },
  nowMs: () => number = () => performance.now(),
): FailedAttempts {
  // Ordered by the last attempt: an address is put back at the end each time.
  const windows = new Map<string, { readonly endsAtMs: number; attempts: number }>();

  function count(address: string) {
    const network = networkOf(address);
    const known = windows.get(network);
    const window =
      known && known.endsAtMs > nowMs() ? known : { endsAtMs: nowMs() + WINDOW_MS, attempts: 0 };
    window.attempts += 1;
    windows.delete(network);
    windows.set(network, window);
    if (windows.size > MOST_ADDRESSES) windows.delete(windows.keys().next().value as string);
    return window;
  }

  return {
    refuse(kind, address, body = {}) {
      metrics.failedAuthentication(kind);
      const { attempts, endsAtMs } = count(address);
      if (attempts <= mostPerMinute) {
        return new Problem("UNAUTHENTICATED", SENTENCES[kind], { body });
      }
      return new Problem(
        "RATE_LIMITED",
        "Too many requests without a valid secret came from this address.",
        {
          retryAfterSeconds: Math.max(1, Math.ceil((endsAtMs - nowMs()) / 1_000)),
        },
      );
    },
  };
}

/**
 * What shares one count: an IPv4 address; the /64 of an IPv6 address, which usually belongs to one caller;
 * and every text that is no address, which a trusted proxy may pass on.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  const version = isIP(plain);
  if (version === 4) return plain;
  if (version === 0) return "unknown";
  // The URL parser normalizes an address: no leading zeros, and dotted ends as groups.
  const [head = "", tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const before = head.split(":").filter(Boolean);
  const behind = (tail ?? "").split(":").filter(Boolean);
  const zeros = Array<string>(8 - before.length - behind.length).fill("0");
  return [...before, ...zeros, ...behind].slice(0, 4).join(":");
}
