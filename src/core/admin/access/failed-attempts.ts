import { createAllowance } from "../../base/allowance.ts";
import { RAPPORT_ON_PAGES } from "../../base/command.ts";
import { Problem, type ProblemDetails } from "../../base/problem.ts";
import { networkOf } from "../../outbound/networks.ts";

/*
 * Requests without a valid secret are counted by address. A valid API key is never refused because
 * of them: keys are long, and many callers may share a proxy's address. A secret that opens the
 * whole company is not checked any more, right or wrong, while its address has no attempts left for
 * secrets of its kind; other addresses notice nothing.
 */

export type AttemptKind =
  | "key"
  | "scim"
  | "administrator"
  | "session"
  | "link"
  | "password"
  | "passkey"
  | "sign_in";

const SENTENCES: Readonly<Record<AttemptKind, string>> = {
  key: "Invalid API key",
  scim: "Invalid SCIM token",
  administrator: "Invalid admin token. API keys do not open /admin/v1",
  session: "You are not signed in, or the session has ended.",
  sign_in: "The sign-in failed.",
  link: `This sign-in link was used or has expired. Ask a colleague for a new one, or on the server: ${RAPPORT_ON_PAGES} sign-in`,
  // The same for every reason: it must not tell whether a person exists.
  password: "The email address or the password is wrong.",
  passkey:
    "This passkey opens nothing here. Use another way to sign in, or ask a colleague for a link.",
};

/** Follows the sentence if the request has no secret at all: clients look for its beginning. */
const NONE_SENT: Readonly<Partial<Record<AttemptKind, string>>> = {
  key: ": the request has none. Send it as 'Authorization: Bearer KEY'",
  scim: ": the request has none. Send it as 'Authorization: Bearer TOKEN'",
};

/** Kinds of secrets that open the whole company, and sign-ins, which make the server work or ask the identity provider. */
export type LockingKind = Exclude<AttemptKind, "key" | "session">;

/** Each address has a count for each kind, and one for all kinds. */
const MOST_COUNTS = 20_000;

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/** @param mostPerMinute attempts of one network (`networkOf`). */
export function createFailedAttempts(
  mostPerMinute: number,
  metrics: { failedAuthentication(kind: AttemptKind): void },
  nowMs?: () => number,
) {
  const allowance = createAllowance(MOST_COUNTS, nowMs);
  /** @returns after how many seconds the address has an attempt left; 0 if it has one. */
  function count(kind: AttemptKind, address: string): number {
    metrics.failedAuthentication(kind);
    const network = networkOf(address);
    allowance.take(`${kind} ${network}`, mostPerMinute);
    return allowance.take(network, mostPerMinute);
  }
  return {
    /**
     * Counts a request without a valid secret.
     *
     * @param sent the secret; undefined if the request has none, which the sentence says then.
     * @param body further members of the response's body.
     * @returns UNAUTHENTICATED; RATE_LIMITED once the address has used up its attempts of this minute.
     */
    refuse(kind: AttemptKind, address: string, sent?: string, body: ProblemDetails["body"] = {}) {
      const retryAfterSeconds = count(kind, address);
      const why = sent === undefined ? (NONE_SENT[kind] ?? "") : "";
      if (retryAfterSeconds === 0) {
        return new Problem("UNAUTHENTICATED", `${SENTENCES[kind]}${why}`, { body });
      }
      return tooMany(retryAfterSeconds);
    },
    /** Counts a failure that gets its own response. */
    note(kind: AttemptKind, address: string) {
      count(kind, address);
    },
    /**
     * Call it before a secret of this kind is checked.
     *
     * @throws Problem RATE_LIMITED if the address has used up its attempts with secrets of this kind.
     */
    refuseLocked(kind: LockingKind, address: string) {
      const retryAfterSeconds = allowance.wait(`${kind} ${networkOf(address)}`, mostPerMinute);
      if (retryAfterSeconds > 0) throw tooMany(retryAfterSeconds);
    },
  };
}

const tooMany = (retryAfterSeconds: number): Problem =>
  new Problem("RATE_LIMITED", "Too many requests without a valid secret came from this address.", {
    retryAfterSeconds,
  });
