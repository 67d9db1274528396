import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A secret as it is stored: SHA-256, in hexadecimal. Tokens are random, so they need no salt. */
export const hashSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("hex");

/** A new token that cannot be guessed: 256 random bits behind a prefix that says what it is. */
export const newSecret = (prefix: string): string =>
  `${prefix}_${randomBytes(32).toString("base64url")}`;

/** Compares without telling by its duration how much was right. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));
