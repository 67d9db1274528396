import { newSecret } from "../access/secrets.ts";
import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { type LinkTarget, linkOf, readLink } from "./link.ts";
import { keepLinkKey } from "./link-key-store.ts";

/** Makes and reads links, with the secret that all processes on the database share. */
export interface Links {
  make(target: LinkTarget): Promise<string>;
  read(link: string): Promise<LinkTarget | undefined>;
}

const PURPOSE = "preference_center";

/** The secret is made with the first link ever, kept in the database, and never changes. */
export function createLinks(database: Database, clock: Clock): Links {
  let secret: Promise<string> | undefined;

  async function known(): Promise<string> {
    secret ??= keepLinkKey(database, PURPOSE, newSecret("link"), clock.now());
    try {
      return await secret;
    } catch (error) {
      secret = undefined;
      throw error;
    }
  }

  return {
    make: async (target) => linkOf(await known(), target),
    read: async (link) => readLink(await known(), link),
  };
}
