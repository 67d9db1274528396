import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/*
 * Sealed text: `sealed:1:KEY:DATA`. KEY is the id of the key, DATA the nonce, the ciphertext and the tag of
 * AES-256-GCM in base64url. The place of the row is authenticated with it, so a sealed value that is
 * copied to another row does not open. docs/decisions/secrets-at-rest.md
 */

/** A key that seals, derived from a secret. */
export interface SealingKey {
  /** Identifies a key; the secret cannot be derived from it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A stored value was sealed with another key, or was changed or copied from another row. */
export class Unopenable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Unopenable";
  }
}

const CIPHER = "aes-256-gcm";

const KEY_BYTES = 32;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const SEALED = /^sealed:1:([0-9a-f]{8}):([\w-]+)$/;

/** @param secret long and random: HKDF derives keys, it does not make a password hard to guess. */
export const sealingKeyOf = (secret: string): SealingKey => ({
  id: derive(secret, "rapport key id", ID_BYTES).toString("hex"),
  bytes: derive(secret, "rapport secrets at rest", KEY_BYTES),
});

const derive = (secret: string, purpose: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "", purpose, bytes));

/** @param place the row and column of the value; needed to open it. */
export function sealWith({ id, bytes }: SealingKey, text: string, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(place));
  const sealed = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
  return `sealed:1:${id}:${Buffer.concat(sealed).toString("base64url")}`;
}

/** @throws Unopenable for another key, another place, and changed text. */
export function openWith({ bytes }: SealingKey, sealed: string, place: string): string {
  const data = Buffer.from(SEALED.exec(sealed)?.[2] ?? "", "base64url");
  try {
    const nonce = data.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    const text = decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    throw new Unopenable("A stored secret was changed, or copied from another row.");
  }
}

/** The id of the key that sealed a text; undefined for text that is not sealed. */
export const keyIdOf = (stored: string): string | undefined => SEALED.exec(stored)?.[1];
