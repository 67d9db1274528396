import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { createFairLine } from "../../core/base/fair-line.ts";
import { Problem } from "../../core/base/problem.ts";

/*
 * Passwords are stored as scrypt hashes, each with its own salt and its cost. The cost is that which OWASP names for scrypt with 32
 * MB (Password Storage Cheat Sheet): about a quarter of a second of one core.
 */

const COST = { log2N: 15, r: 8, p: 3 };

export type PasswordCost = Readonly<typeof COST>;

const SALT_BYTES = 16;
const HASH_BYTES = 32;

export type PasswordHashes = ReturnType<typeof createPasswordHashes>;

/** Hashes that are computed at once. They run on the threads of libuv, which has four: files and names need some, too. */
const PLACES = 2;
const MOST_WAITING_OF_OWNER = 10;
const MOST_WAITING = 200;

/**
 * Hashing takes a core: callers take turns by network, and a flood from one network or many is refused and stops nothing else.
 *
 * @param cost of new hashes, and of the check of a person who has none.
 */
export function createPasswordHashes(cost: PasswordCost = COST) {
  const line = createFairLine({
    places: PLACES,
    mostWaiting: MOST_WAITING_OF_OWNER,
    refusal: tooBusy,
  });
  const nobodys = written(cost, Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));
  let waiting = 0;
  /** @param owner who waits in line, such as the network of the caller. */
  const derive = async (owner: string, password: string, salt: Buffer, its: PasswordCost) => {
    if (waiting >= MOST_WAITING) throw tooBusy();
    waiting++;
    try {
      return await line.run(owner, () => run(password, salt, HASH_BYTES, optionsOf(its)));
    } finally {
      waiting--;
    }
  };
  return {
    async hash(owner: string, password: string) {
      const salt = randomBytes(SALT_BYTES);
      return written(cost, salt, await derive(owner, password, salt, cost));
    },
    /**
     * Whether a password has a hash. It takes as long for `undefined`, so that the time does not tell whether a person exists and has
     * a password.
     */
    async verify(owner: string, password: string, hash: string | undefined) {
      const [, log2N, r, p, salt = "", wanted = ""] = (hash ?? nobodys).split(":");
      const its = { log2N: Number(log2N), r: Number(r), p: Number(p) };
      const derived = await derive(owner, password, Buffer.from(salt, "base64url"), its);
      const isSame = timingSafeEqual(derived, Buffer.from(wanted, "base64url"));
      return isSame && hash !== undefined;
    },
  };
}

const written = ({ log2N, r, p }: PasswordCost, salt: Buffer, derived: Buffer): string =>
  ["scrypt", log2N, r, p, salt.toString("base64url"), derived.toString("base64url")].join(":");

const run = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const optionsOf = ({ log2N, r, p }: PasswordCost): ScryptOptions => ({
  N: 2 ** log2N,
  r,
  p,
  maxmem: 2 ** log2N * r * 128 + 1_048_576,
});

const tooBusy = (): Problem =>
  new Problem("RATE_LIMITED", "Too many passwords are being checked. Try again in a moment.", {
    retryAfterSeconds: 2,
  });

/** In characters. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 128;

const FEWEST_DIFFERENT = 5;

/** A password as it is hashed: keyboards compose letters differently. */
export const normalPassword = (password: string): string => password.normalize("NFC");

/**
 * NIST SP 800-63B, 3.1.1: length, and nothing that is guessed first; no rules about kinds of characters.
 *
 * @throws Problem INVALID_REQUEST.
 */
export function refuseWeakPassword(password: string, userName: string): void {
  const characters = [...password];
  const why = weaknessOf(characters, password.toLowerCase(), userName.toLowerCase());
  if (why) throw new Problem("INVALID_REQUEST", `'password' ${why}.`);
}

function weaknessOf(characters: readonly string[], text: string, userName: string) {
  if (characters.length < SHORTEST_PASSWORD)
    return `must have at least ${SHORTEST_PASSWORD} characters`;
  if (characters.length > LONGEST_PASSWORD)
    return `must have at most ${LONGEST_PASSWORD} characters`;
  if (new Set(characters).size < FEWEST_DIFFERENT)
    return `must have at least ${FEWEST_DIFFERENT} different characters`;
  const own = userName.split("@", 1)[0] ?? "";
  const isOwnName = text === userName || (own.length > 3 && text.replaceAll(own, "").length < 6);
  return isOwnName ? "must not be made of your email address" : undefined;
}
