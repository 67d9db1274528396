import { randomBytes, timingSafeEqual } from "node:crypto";
import { Problem } from "../../base/problem.ts";
import { sha256 } from "../../base/values/hashes.ts";

/**
 * The stored form of a secret: SHA-256, in hexadecimal. Tokens are random, so they need no salt.
 */
export const hashSecret = sha256;

/** A new token: 256 random bits after a prefix that names its kind. */
export const newSecret = (prefix: string): string =>
  `${prefix}_${randomBytes(32).toString("base64url")}`;

/** Whether a secret has this hash, in constant time. */
export const hasHash = (secret: string, hash: string): boolean =>
  timingSafeEqual(Buffer.from(hashSecret(secret)), Buffer.from(hash));

/** Names an admin token, by its hash, where what was made with it is kept and ends with it. */
export const adminPrintOf = (adminTokenHash: string): string =>
  hashSecret(`administrator's sessions ${adminTokenHash}`);

/** The fewest characters of a key or token where data is kept: 96 random bits in hex. */
export const SHORTEST_SECRET = 24;

/** @throws Problem INVALID_REQUEST for a key or token that is too short. */
export function refuseShortSecret(secret: string, shortest: number, what: string): void {
  if (secret.length >= shortest) return;
  throw new Problem(
    "INVALID_REQUEST",
    `${what} has ${secret.length} characters; keys and tokens need at least ${shortest}. ` +
      "Generate one with: openssl rand -hex 24",
  );
}
