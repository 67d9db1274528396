import { recordChanges } from "../../core/admin/audit/audit.ts";
import { sealedColumn } from "../../core/admin/secrets/rotate.ts";
import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { newSecret } from "../../core/admin/secrets/secrets.ts";
import { later } from "../../core/base/clock.ts";
import type { Context } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Transaction, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import {
  type LinkTarget,
  linkOf,
  type PreviewTarget,
  previewLinkOf,
  readLink,
  readPreviewLink,
} from "./link.ts";
import {
  deleteLinkKeys,
  insertLinkKey,
  type LinkKey,
  retireLinkKeys,
  selectLastVersion,
  selectLinkKeys,
  selectSecrets,
  updateSecrets,
} from "./link-key-store.ts";

/** Makes and reads links, with secrets that all processes on the database share. */
export type Links = ReturnType<typeof createLinks>;

export type LinkServices = StoringServices & { readonly sealing: Sealing };

const PURPOSE = "preference_center";

/** How long a link to a preview opens: long enough to send it to a colleague or a phone. */
const PREVIEW_MINUTES = 10;

/** A rotation by another process takes effect after this time at the latest. */
const CACHED_FOR_MS = 30_000;

/** @param lifetimeDays how long a link opens. */
export function createLinks(services: LinkServices, lifetimeDays: number) {
  const { database, clock } = services;
  let cached: { readonly keys: readonly LinkKey[]; readonly until: number } | undefined;

  async function goodKeys(): Promise<readonly LinkKey[]> {
    const now = clock.now();
    if (cached && now.getTime() < cached.until) return cached.keys;
    const keys = await readKeys(services, now);
    cached = { keys, until: now.getTime() + CACHED_FOR_MS };
    return keys;
  }

  return {
    /** @param address the present address of the profile, or null. */
    async make(target: LinkTarget, address: string | null) {
      const [key] = await goodKeys();
      if (!key) throw new Error("There is no secret for signing links.");
      const expiresAt = later(clock.now(), { days: lifetimeDays });
      return linkOf(key, target, address, expiresAt);
    },
    /** Undefined for a link that is forged, or has expired. */
    read: async (link: string) => readLink(await goodKeys(), link, clock.now()),
    /** A link to a preview, and until when it opens. */
    async makePreview(target: PreviewTarget) {
      const [key] = await goodKeys();
      if (!key) throw new Error("There is no secret for signing links.");
      const expiresAt = later(clock.now(), { minutes: PREVIEW_MINUTES });
      return { link: previewLinkOf(key, target, expiresAt), expiresAt };
    },
    /** Undefined for a link that is forged, or has expired. */
    readPreview: async (link: string) => readPreviewLink(await goodKeys(), link, clock.now()),
    /**
     * Signs with a new secret from now on.
     *
     * @param overlapDays how long links of earlier secrets still open.
     */
    async rotate(context: Context, overlapDays: number) {
      const now = clock.now();
      await withRetries(database, async (tx) => {
        const until = later(now, { days: overlapDays });
        await retireLinkKeys(tx, PURPOSE, until);
        await addSecret(tx, services, now);
        const change = { action: "rotated", kind: "page_link_secret" };
        await recordChanges(tx, clock, context, [{ ...change, details: { overlapDays } }]);
      });
      cached = undefined;
    },
  };
}

/** The first secret is created with the first link. */
async function readKeys(services: LinkServices, now: Date): Promise<readonly LinkKey[]> {
  const { database } = services;
  const keys = await selectLinkKeys(database, PURPOSE, now);
  if (keys.some(({ goodUntil }) => goodUntil === null)) return opened(services, keys);
  await withRetries(database, (tx) => addSecret(tx, services, now));
  return opened(services, await selectLinkKeys(database, PURPOSE, now));
}

async function addSecret(tx: Transaction, { sealing }: LinkServices, now: Date): Promise<void> {
  const version = (await selectLastVersion(tx, PURPOSE)) + 1;
  const secret = await sealing.seal(tx, newSecret("link"), rowOf(version));
  await insertLinkKey(tx, PURPOSE, { version, secret }, now);
}

/** The place of a key, to seal it for. */
export const rowOf = (version: number): string => `link_keys.secret ${PURPOSE} ${version}`;

/** @throws Problem UNAVAILABLE if this process does not have the key of other processes. */
function opened({ sealing }: LinkServices, keys: readonly LinkKey[]): LinkKey[] {
  try {
    return keys.map((key) => ({ ...key, secret: sealing.open(key.secret, rowOf(key.version)) }));
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    throw new Problem("UNAVAILABLE", "Links cannot be opened right now. Try again later.", {
      retryAfterSeconds: 60,
      cause: error,
    });
  }
}

/** The secrets that sign links. Links that were signed with a lost one do not open any more. */
export const linkSecrets = sealedColumn({
  select: (tx) => selectSecrets(tx, PURPOSE),
  valueIn: ({ version, secret }) => ({ stored: secret, place: rowOf(version) }),
  update: (tx, rows) =>
    updateSecrets(
      tx,
      PURPOSE,
      rows.map(({ row, sealed }) => ({ ...row, secret: sealed })),
    ),
  remove: (tx, rows) =>
    deleteLinkKeys(
      tx,
      PURPOSE,
      rows.map(({ version }) => version),
    ),
});
