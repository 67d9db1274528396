import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { DAY_MS } from "../../core/base/clock.ts";
import { uuidOf } from "../../core/base/values/uuid.ts";
import type { LinkKey } from "./link-key-store.ts";

/*
 * A link to a page is one word: a signature, the version of the key that signed, the day it expires, a
 * fingerprint of the address it was made for, the workspace, the profile, the center and that address in a form that
 * only the key reads. It cannot be guessed or altered without the key.
 */

export interface LinkTarget {
  readonly workspaceId: number;
  readonly profileId: string;
  readonly centerId: string;
}

/** A link that is signed and has not expired. */
export interface OpenedLink extends LinkTarget {
  /** Whether it was made for this address; null: for none. */
  isFor(address: string | null): boolean;
  /** The address that it was made for; null if it had none, or is of an earlier version. */
  readonly address: string | null;
}

const SIGNATURE_BYTES = 16;

const FINGERPRINT_BYTES = 6;

/** In the payload, behind the signature. */
const VERSION_AT = 0;
const EXPIRY_AT = 2;
const FINGERPRINT_AT = 4;
const WORKSPACE_AT = FINGERPRINT_AT + FINGERPRINT_BYTES;
const PROFILE_AT = WORKSPACE_AT + 4;
const CENTER_AT = PROFILE_AT + 16;

/** The last part of the address of a page. @param expiresAt rounded up to the end of a day. */
export function linkOf(
  { version, secret }: Pick<LinkKey, "version" | "secret">,
  { workspaceId, profileId, centerId }: LinkTarget,
  address: string | null,
  expiresAt: Date,
): string {
  const head = Buffer.alloc(PROFILE_AT);
  head.writeUInt16BE(version, VERSION_AT);
  head.writeUInt16BE(Math.ceil(expiresAt.getTime() / DAY_MS), EXPIRY_AT);
  fingerprintOf(secret, address ?? "").copy(head, FINGERPRINT_AT);
  head.writeUInt32BE(workspaceId, WORKSPACE_AT);
  const profile = Buffer.from(profileId.replaceAll("-", ""), "hex");
  const center = Buffer.from(centerId);
  const masked = address === null ? [] : [END, mask(secret, head, Buffer.from(address))];
  const payload = Buffer.concat([head, profile, center, ...masked]);
  return Buffer.concat([signatureOf(secret, payload), payload]).toString("base64url");
}

/** Undefined unless `linkOf` made the link with one of these keys, and it has not expired. */
export function readLink(
  keys: readonly LinkKey[],
  link: string,
  now: Date,
): OpenedLink | undefined {
  const bytes = Buffer.from(link, "base64url");
  // Decoding is lenient, and a link has one spelling.
  if (bytes.length <= SIGNATURE_BYTES + CENTER_AT) return undefined;
  if (bytes.toString("base64url") !== link) return undefined;
  const payload = bytes.subarray(SIGNATURE_BYTES);
  const signature = bytes.subarray(0, SIGNATURE_BYTES);
  const key = keys.find(({ version }) => version === payload.readUInt16BE(VERSION_AT));
  if (!key || (key.goodUntil && key.goodUntil <= now)) return undefined;
  if (!timingSafeEqual(signature, signatureOf(key.secret, payload))) return undefined;
  if (payload.readUInt16BE(EXPIRY_AT) * DAY_MS <= now.getTime()) return undefined;
  const profile = payload.subarray(PROFILE_AT, CENTER_AT).toString("hex");
  const fingerprint = payload.subarray(FINGERPRINT_AT, WORKSPACE_AT);
  const end = payload.indexOf(END, CENTER_AT);
  const masked = end === -1 ? undefined : payload.subarray(end + 1);
  return {
    workspaceId: payload.readUInt32BE(WORKSPACE_AT),
    profileId: uuidOf(profile),
    centerId: payload.subarray(CENTER_AT, end === -1 ? undefined : end).toString("utf8"),
    isFor: (address) => timingSafeEqual(fingerprint, fingerprintOf(key.secret, address ?? "")),
    address: masked ? mask(key.secret, payload, masked).toString("utf8") : null,
  };
}

/** Between the id of the center, which never has it, and the address. */
const END = Buffer.from([0]);

/**
 * Hides an address, or shows it again. The hiding bytes follow from the fingerprint, so that a
 * user's links are alike and two addresses are never hidden by the same bytes.
 */
function mask(secret: string, payload: Buffer, text: Buffer): Buffer {
  const fingerprint = payload.subarray(FINGERPRINT_AT, WORKSPACE_AT);
  const stream = Buffer.from(
    hkdfSync("sha256", secret, fingerprint, "address of a link", text.length),
  );
  return Buffer.from(text.map((byte, index) => byte ^ (stream[index] ?? 0)));
}

/** The contents of a link to a preview, with the second at which it expires. */
export interface PreviewTarget {
  readonly workspaceId: number;
  readonly centerId: string;
  readonly page: "page" | "confirmation";
  readonly locale: string | undefined;
}

/** Signed differently from links to pages, so that neither can be used as the other. */
const PREVIEW = "preview ";

/** A signed link to a preview of a center, which expires. */
export function previewLinkOf(
  { version, secret }: Pick<LinkKey, "version" | "secret">,
  { workspaceId, centerId, page, locale }: PreviewTarget,
  expiresAt: Date,
): string {
  const parts = [version, Math.floor(expiresAt.getTime() / 1_000), workspaceId, centerId, page];
  const payload = Buffer.from(JSON.stringify([...parts, locale ?? null]));
  const signature = signatureOf(secret, Buffer.concat([Buffer.from(PREVIEW), payload]));
  return Buffer.concat([signature, payload]).toString("base64url");
}

/** Undefined unless `previewLinkOf` made the link with one of these keys, and it has not expired. */
export function readPreviewLink(
  keys: readonly LinkKey[],
  link: string,
  now: Date,
): PreviewTarget | undefined {
  const bytes = Buffer.from(link, "base64url");
  const payload = bytes.subarray(SIGNATURE_BYTES);
  if (payload.length === 0 || bytes.toString("base64url") !== link) return undefined;
  const signed = Buffer.concat([Buffer.from(PREVIEW), payload]);
  const key = keys.find(({ secret }) =>
    timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), signatureOf(secret, signed)),
  );
  if (!key || (key.goodUntil && key.goodUntil <= now)) return undefined;
  const [, expiry, workspaceId, centerId, page, locale] = JSON.parse(payload.toString("utf8"));
  if (expiry * 1_000 <= now.getTime()) return undefined;
  return { workspaceId, centerId, page, locale: locale ?? undefined };
}

const signatureOf = (secret: string, payload: Buffer): Buffer =>
  createHmac("sha256", secret).update(payload).digest().subarray(0, SIGNATURE_BYTES);

const fingerprintOf = (secret: string, address: string): Buffer =>
  createHmac("sha256", secret).update(`address ${address}`).digest().subarray(0, FINGERPRINT_BYTES);
