import { newSecret } from "../access/secrets.ts";
import { recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Context } from "../context/context.ts";
import { type Database, withRetries } from "../database/database.ts";
import { type LinkTarget, linkOf, type OpenedLink, readLink } from "./link.ts";
import {
  insertLinkKey,
  type LinkKey,
  retireLinkKeys,
  selectLastVersion,
  selectLinkKeys,
} from "./link-key-store.ts";

/** Makes and reads links, with secrets that all processes on the database share. */
export interface Links {
  /** @param address of the profile as it is now, or null. */
  make(target: LinkTarget, address: string | null): Promise<string>;
  /** Undefined for a link that is forged, or has expired. */
  read(link: string): Promise<OpenedLink | undefined>;
  /**
   * Signs with a new secret from now on.
   *
   * @param overlapDays how long links of earlier secrets still open.
   */
  rotate(context: Context, overlapDays: number): Promise<void>;
}

const PURPOSE = "preference_center";

const DAY_MS = 86_400_000;

/** A rotation by another process takes effect after this time at the latest. */
const CACHED_FOR_MS = 30_000;

/** @param lifetimeDays how long a link opens. */
export function createLinks(database: Database, clock: Clock, lifetimeDays: number): Links {
  let cached: { readonly keys: readonly LinkKey[]; readonly until: number } | undefined;

  async function goodKeys(): Promise<readonly LinkKey[]> {
    const now = clock.now();
    if (cached && now.getTime() < cached.until) return cached.keys;
    const keys = await readKeys(database, now);
    cached = { keys, until: now.getTime() + CACHED_FOR_MS };
    return keys;
  }

  return {
    async make(target, address) {
      const [key] = await goodKeys();
      if (!key) throw new Error("There is no secret to sign links with.");
      const expiresAt = new Date(clock.now().getTime() + lifetimeDays * DAY_MS);
      return linkOf(key, target, address, expiresAt);
    },
    read: async (link) => readLink(await goodKeys(), link, clock.now()),
    async rotate(context, overlapDays) {
      const now = clock.now();
      await withRetries(database, async (tx) => {
        const version = (await selectLastVersion(tx, PURPOSE)) + 1;
        await retireLinkKeys(tx, PURPOSE, new Date(now.getTime() + overlapDays * DAY_MS));
        await insertLinkKey(tx, PURPOSE, { version, secret: newSecret("link") }, now);
        const change = { action: "rotated", kind: "page_link_secret", workspace: "", name: "" };
        await recordChanges(tx, clock, context, [{ ...change, details: { overlapDays } }]);
      });
      cached = undefined;
    },
  };
}

/** The first secret is created with the first link. */
async function readKeys(database: Database, now: Date): Promise<readonly LinkKey[]> {
  const keys = await selectLinkKeys(database, PURPOSE, now);
  if (keys.some(({ goodUntil }) => goodUntil === null)) return keys;
  const version = (await selectLastVersion(database, PURPOSE)) + 1;
  await insertLinkKey(database, PURPOSE, { version, secret: newSecret("link") }, now);
  return selectLinkKeys(database, PURPOSE, now);
}
