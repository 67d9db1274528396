import { LRUCache } from "lru-cache";
import type { Queryable } from "../database/database.ts";
import { type PreferenceCenter, TITLE_ID } from "./center.ts";
import type { PageName } from "./check-pages.ts";
import { documentOf } from "./page-document.ts";
import { type PageTemplate, parsePage } from "./page-liquid.ts";
import { type CenterHead, selectCenter } from "./store.ts";

/*
 * Parsing a page takes twenty times as long as rendering it, so parsed pages are remembered. What is
 * remembered goes by the revision of its center, which every view reads: a change is seen at once,
 * whichever process made it.
 */

/** Of all pages that are remembered together, in characters before they are parsed. */
const MOST_CHARACTERS = 16 * 1_048_576;

/** A center that is served, with its pages parsed. */
export interface ServedCenter {
  readonly center: PreferenceCenter;
  title(locale: string): string;
  template(page: PageName, locale: string): PageTemplate;
}

export interface PageMemory {
  /** The center of this revision, if it is active and still there. */
  find(
    database: Queryable,
    workspaceId: number,
    head: CenterHead,
  ): Promise<ServedCenter | undefined>;
}

export function createPageMemory(): PageMemory {
  const centers = new LRUCache<string, ServedCenter>({ maxSize: MOST_CHARACTERS });

  async function remember(
    database: Queryable,
    workspaceId: number,
    { id }: CenterHead,
  ): Promise<ServedCenter | undefined> {
    const center = await selectCenter(database, workspaceId, id);
    if (!center) return undefined;
    const served = serve(center);
    centers.set(keyOf(workspaceId, center), served, { size: sizeOf(center) });
    return served;
  }

  return {
    async find(database, workspaceId, head) {
      if (head.state !== "active") return undefined;
      const known = centers.get(keyOf(workspaceId, head));
      const served = known ?? (await remember(database, workspaceId, head));
      return served?.center.state === "active" ? served : undefined;
    },
  };
}

const keyOf = (workspaceId: number, { id, revision }: Pick<CenterHead, "id" | "revision">) =>
  `${workspaceId} ${revision} ${id}`;

/** Each language is a page of its own once somebody has read it. */
function sizeOf({ pageHtml, confirmationHtml, translations }: PreferenceCenter): number {
  const languages = Object.keys(translations).length + 1;
  return 1 + languages * (pageHtml.length + confirmationHtml.length);
}

/** Parses a page in a language when it is first asked for. */
export function serve(center: PreferenceCenter): ServedCenter {
  const templates = new Map<string, PageTemplate>();
  const title = (locale: string) => center.translations[locale]?.[TITLE_ID] ?? center.title;
  return {
    center,
    title,
    template(page, locale) {
      const key = `${page} ${locale}`;
      const known = templates.get(key);
      if (known) return known;
      const document = documentOf(center[page], { ...center, title: title(locale), locale });
      const parsed = parsePage(document, center.translations[locale]);
      if ("fault" in parsed) throw new Error(`A page that was checked: ${parsed.fault.reason}`);
      templates.set(key, parsed.template);
      return parsed.template;
    },
  };
}
