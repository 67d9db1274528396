import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/*
 * The last line of a backup has a checksum, which anybody can work out again after an edit. If
 * there is a SECRET_KEY it also has a signature, which nobody can make without that key.
 */

/** A signature covers the checksum of all lines before it, and their number. */
export interface Signed {
  readonly rows: number;
  readonly sha256: string;
}

/** @param secret the SECRET_KEY. */
export const signatureOf = (secret: string, { rows, sha256 }: Signed): string =>
  createHmac("sha256", Buffer.from(hkdfSync("sha256", secret, "", "rapport backups", 32)))
    .update(`${rows} ${sha256}`)
    .digest("hex");

/** Whether one of the secrets signed it. */
export const isSignedBy = (
  secrets: readonly string[],
  signature: string,
  signed: Signed,
): boolean =>
  secrets.some((secret) => {
    const expected = Buffer.from(signatureOf(secret, signed));
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
