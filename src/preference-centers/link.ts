import { createHmac, timingSafeEqual } from "node:crypto";

/*
 * A link to somebody's page is one word that names the workspace, the profile and the center, and a
 * signature over them. It holds nothing personal, it cannot be guessed or altered without the key, and
 * it stays good as long as the person and the center are there.
 */

/** Whose page a link leads to. */
export interface LinkTarget {
  readonly workspaceId: number;
  readonly profileId: string;
  readonly centerId: string;
}

const SIGNATURE_BYTES = 16;

const WORKSPACE_BYTES = 4;

const PROFILE_BYTES = 16;

const CENTER_BEGINS = SIGNATURE_BYTES + WORKSPACE_BYTES + PROFILE_BYTES;

/** The last part of the address of somebody's page. */
export function linkOf(secret: string, { workspaceId, profileId, centerId }: LinkTarget): string {
  const workspace = Buffer.alloc(WORKSPACE_BYTES);
  workspace.writeUInt32BE(workspaceId);
  const profile = Buffer.from(profileId.replaceAll("-", ""), "hex");
  const payload = Buffer.concat([workspace, profile, Buffer.from(centerId)]);
  return Buffer.concat([signatureOf(secret, payload), payload]).toString("base64url");
}

/** Where a link leads; undefined unless it is one that `linkOf` made with this secret. */
export function readLink(secret: string, link: string): LinkTarget | undefined {
  const bytes = Buffer.from(link, "base64url");
  // Decoding is lenient, and a link has one spelling.
  if (bytes.length <= CENTER_BEGINS || bytes.toString("base64url") !== link) return undefined;
  const payload = bytes.subarray(SIGNATURE_BYTES);
  const signature = bytes.subarray(0, SIGNATURE_BYTES);
  if (!timingSafeEqual(signature, signatureOf(secret, payload))) return undefined;
  const profile = bytes.subarray(CENTER_BEGINS - PROFILE_BYTES, CENTER_BEGINS).toString("hex");
  return {
    workspaceId: payload.readUInt32BE(),
    profileId: profile.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    centerId: bytes.subarray(CENTER_BEGINS).toString("utf8"),
  };
}

const signatureOf = (secret: string, payload: Buffer): Buffer =>
  createHmac("sha256", secret).update(payload).digest().subarray(0, SIGNATURE_BYTES);
