import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Problem } from "../problem.ts";

/** A secret as it is stored: SHA-256, in hexadecimal. Tokens are random, so they need no salt. */
export const hashSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("hex");

/** A new token that cannot be guessed: 256 random bits behind a prefix that says what it is. */
export const newSecret = (prefix: string): string =>
  `${prefix}_${randomBytes(32).toString("base64url")}`;

/** Compares without telling by its duration how much was right. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));

/** The shortest key or token accepted where data is kept: as hard to guess as 96 random bits in hex. */
export const SHORTEST_SECRET = 24;

/** @throws Problem INVALID_REQUEST for a key or token that could be guessed. */
export function refuseShortSecret(secret: string, shortest: number, what: string): void {
  if (secret.length >= shortest) return;
  throw new Problem(
    "INVALID_REQUEST",
    `${what} has ${secret.length} characters; keys and tokens need at least ${shortest}. ` +
      "Generate one with: openssl rand -hex 24",
  );
}
