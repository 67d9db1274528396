import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/*
 * Challenges for passkeys. A challenge says itself until when it can be answered and for what, and is signed, so that any server on
 * the database can check it and asking for one stores nothing. An answered one is stored, so that it is accepted once.
 */

/** A person may have to fetch a phone. */
const VALID_MS = 5 * 60_000;

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;

export type Challenges = ReturnType<typeof createChallenges>;

/** @param keySource of a secret that all servers on the database have. */
export function createChallenges(keySource: string) {
  const signatureOf = (content: Buffer, purpose: string): Buffer =>
    createHmac("sha256", `passkey challenges ${keySource}`)
      .update(content)
      .update(purpose)
      .digest();
  return {
    /** @param purpose what it is for, such as the session that gets a passkey. */
    issue(purpose: string, now: Date) {
      const until = Buffer.alloc(TIME_BYTES);
      until.writeUIntBE(now.getTime() + VALID_MS, 0, TIME_BYTES);
      const content = Buffer.concat([randomBytes(RANDOM_BYTES), until]);
      return Buffer.concat([content, signatureOf(content, purpose)]).toString("base64url");
    },
    /** @returns until when it can be answered; undefined for what no server issued for this purpose, or too long ago. */
    check(challenge: string, purpose: string, now: Date) {
      const bytes = Buffer.from(challenge, "base64url");
      const content = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
      const given = bytes.subarray(RANDOM_BYTES + TIME_BYTES);
      const wanted = signatureOf(content, purpose);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      const until = content.readUIntBE(RANDOM_BYTES, TIME_BYTES);
      return now.getTime() <= until ? new Date(until) : undefined;
    },
  };
}
