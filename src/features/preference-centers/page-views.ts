import { createBatches } from "../../core/base/batches.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import { type Database, settleAll } from "../../core/database/database.ts";
import type { LinkTarget } from "./link.ts";
import type { Reader } from "./page-scope.ts";
import { readReaders } from "./read-readers.ts";
import { type CenterHead, selectHeads } from "./store.ts";

export interface PageView {
  readonly head: CenterHead | undefined;
  readonly reader: Reader | undefined;
}

export type PageViews = (target: LinkTarget) => Promise<PageView>;

/**
 * Reads the present data for pages. Requests that come while a read runs are read together
 * afterwards: one view takes six statements, and so do a hundred of a workspace.
 */
export const createPageViews = (database: Database): PageViews =>
  createBatches(async (targets: readonly LinkTarget[]) => {
    const views = new Map<LinkTarget, PageView>();
    await settleAll(
      [...groupBy(targets, ({ workspaceId }) => workspaceId)].map(async ([workspaceId, own]) => {
        const [heads, readers] = await settleAll([
          selectHeads(database, workspaceId, [...new Set(own.map((each) => each.centerId))]),
          readReaders(database, workspaceId, [...new Set(own.map((each) => each.profileId))]),
        ]);
        for (const target of own) {
          const head = heads.find((each) => each.id === target.centerId);
          views.set(target, { head, reader: readers.get(target.profileId) });
        }
      }),
    );
    return targets.map((target) => views.get(target) as PageView);
  });
