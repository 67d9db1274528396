import { LRUCache } from "lru-cache";
import type { Queryable } from "../../core/database/database.ts";
import type { PreferenceCenter } from "./center.ts";
import { type CenterHead, selectCenter } from "./store.ts";

/** A center ready to be served: `revision` is a new one whenever it changes. */
export type ServedCenter = PreferenceCenter & { readonly revision: string };

/**
 * Centers by their revision, which every view reads: a change takes effect at once, whichever
 * process made it.
 */
export type CenterCache = ReturnType<typeof createCenterCache>;

/** The limit for all centers together. */
const MOST_CHARACTERS = 16 * 1_048_576;

/** Keeps the centers that were viewed last, by their revision. */
export function createCenterCache() {
  const centers = new LRUCache<string, ServedCenter>({ maxSize: MOST_CHARACTERS });
  return {
    /** The center of this revision, if it is active and still there. */
    async find(database: Queryable, workspaceId: number, head: CenterHead) {
      if (head.state !== "active") return undefined;
      const cached = centers.get(keyOf(workspaceId, head));
      const center = cached ?? (await selectCenter(database, workspaceId, head.id));
      if (!center) return undefined;
      if (!cached) centers.set(keyOf(workspaceId, center), center, { size: sizeOf(center) });
      return center.state === "active" ? center : undefined;
    },
  };
}

const keyOf = (workspaceId: number, { id, revision }: Pick<CenterHead, "id" | "revision">) =>
  `${workspaceId} ${revision} ${id}`;

function sizeOf({ pageHtml, confirmationHtml, translations }: PreferenceCenter): number {
  const texts = Object.values(translations).flatMap((each) => Object.values(each));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return 1 + pageHtml.length + confirmationHtml.length + length;
}
