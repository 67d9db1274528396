import type { Schemas } from "./client.ts";

/*
 * Standard Webhooks, https://www.standardwebhooks.com: `webhook-signature` lists `v1,` and an HMAC-SHA256 of
 * `webhook-id`, `webhook-timestamp` and the body, joined with dots. WebCrypto makes it, and compares in constant time.
 */

/** What a webhook delivers. */
export interface WebhookPayload {
  readonly changes: Schemas["Change"][];
}

/** The headers of a request: of `fetch`, or as Node and many frameworks have them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type WebhookRequest = (
  | { readonly secret: string }
  /** Any of these; while a secret is rotated, the old and the new one. */
  | { readonly secrets: readonly string[] }
) & {
  readonly headers: WebhookHeaders;
  /** As received, not parsed and written again. */
  readonly body: string | Uint8Array | ArrayBuffer;
};

/** Why a request is not taken for one of the webhook. */
export type WebhookErrorCode =
  | "MISSING_HEADER"
  | "INVALID_TIMESTAMP"
  | "TIMESTAMP_TOO_OLD"
  | "TIMESTAMP_TOO_NEW"
  | "INVALID_SIGNATURE"
  | "WRONG_SIGNATURE"
  | "INVALID_BODY";

export class WebhookError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.name = "WebhookError";
    this.code = code;
  }
}

const TOLERANCE_S = 300;

/** Each is compared with each secret; a rotation needs two. */
const MOST_SIGNATURES = 10;

/** `v1,` and the base64 of 32 bytes, in its only spelling. */
const SIGNATURE = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/;

/**
 * Checks that a request comes from the webhook with this secret, unchanged and less than five
 * minutes ago.
 *
 * The same delivery may come again, with the same `webhook-id`, and each change has its own `id`.
 *
 * @throws WebhookError that says why not; TypeError if a secret or the body is not of the right
 * form.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookPayload> {
  const { headers, body } = request;
  const secrets = "secrets" in request ? request.secrets : [request.secret];
  if (secrets.length === 0) throw new TypeError("'secrets' must not be empty.");
  const keys = secrets.map(readSecret);
  const content = bytesOf(body);
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = readSignatures(headerOf(headers, "webhook-signature"));
  checkTime(timestamp);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), content);
  if (!(await isSigned(keys, signatures, signed))) {
    throw new WebhookError(
      "WRONG_SIGNATURE",
      "No signature matches. Check the secret, and pass the body as received.",
    );
  }
  return readPayload(content);
}

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * @throws TypeError for a fault of the receiver, which a sender cannot fix. The message does not
 * show the secret.
 */
function readSecret(secret: string): Bytes {
  const [, text = ""] = /^whsec_(.+)$/.exec(String(secret)) ?? [];
  try {
    const key = fromBase64(text);
    if (key.length > 0) return key;
  } catch {
    // Not base64.
  }
  throw new TypeError("The secret of a webhook is 'whsec_' and base64.");
}

const fromBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  // Not `instanceof`: the bytes of another realm, as in Jest, have other constructors.
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") {
    return new Uint8Array(body as ArrayBuffer);
  }
  throw new TypeError("'body' must be the text or the bytes that were received, not parsed.");
}

/** @throws WebhookError */
function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (!value?.length) {
    throw new WebhookError("MISSING_HEADER", `The request has no header '${name}'.`);
  }
  return String(value);
}

/** @throws WebhookError */
function readSignatures(header: string): Bytes[] {
  const texts = header.split(" ").flatMap((each) => SIGNATURE.exec(each)?.[1] ?? []);
  if (texts.length === 0) {
    const message = "'webhook-signature' has no signature of the form 'v1,' and base64.";
    throw new WebhookError("INVALID_SIGNATURE", message);
  }
  if (texts.length > MOST_SIGNATURES) {
    const message = `'webhook-signature' has more than ${MOST_SIGNATURES} signatures.`;
    throw new WebhookError("INVALID_SIGNATURE", message);
  }
  return texts.map(fromBase64);
}

/** @throws WebhookError */
function checkTime(timestamp: string): void {
  if (!/^[1-9]\d{0,11}$/.test(timestamp)) {
    const message = "'webhook-timestamp' must be a number of seconds since 1970.";
    throw new WebhookError("INVALID_TIMESTAMP", message);
  }
  const age = Math.floor(Date.now() / 1_000) - Number(timestamp);
  if (age > TOLERANCE_S) {
    const message = "'webhook-timestamp' is more than five minutes ago.";
    throw new WebhookError("TIMESTAMP_TOO_OLD", message);
  }
  if (age < -TOLERANCE_S) {
    const message = "'webhook-timestamp' is more than five minutes ahead: check the clocks.";
    throw new WebhookError("TIMESTAMP_TOO_NEW", message);
  }
}

function joined(start: Uint8Array, end: Uint8Array): Bytes {
  const both = new Uint8Array(start.length + end.length);
  both.set(start);
  both.set(end, start.length);
  return both;
}

async function isSigned(
  keys: readonly Bytes[],
  signatures: readonly Bytes[],
  signed: Bytes,
): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return true;
    }
  }
  return false;
}

/** @throws WebhookError */
function readPayload(content: Uint8Array): WebhookPayload {
  try {
    const payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
    if (Array.isArray(payload?.changes)) return payload;
  } catch {
    // Not UTF-8, or not JSON.
  }
  const message = "The body is signed, but is no JSON object with a list of 'changes'.";
  throw new WebhookError("INVALID_BODY", message);
}
