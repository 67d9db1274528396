import { createHmac, randomBytes } from "node:crypto";

/* Signatures of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */

const PREFIX = "whsec_";

/** 24 to 64 bytes in base64. */
export const SECRET_PATTERN = "^whsec_[A-Za-z0-9+/]{32,86}={0,2}$";

/** A random secret of 32 bytes in the form of Standard Webhooks. */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString("base64");

interface Signed {
  readonly id: string;
  readonly at: Date;
  readonly body: string;
}

/** @param secrets the receiver needs one of them. */
export function signedHeaders(
  { id, at, body }: Signed,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
