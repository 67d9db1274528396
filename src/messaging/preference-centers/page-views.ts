import { groupBy } from "../../base/values/group-by.ts";
import { type Database, settleAll } from "../../database/database.ts";
import type { LinkTarget } from "./link.ts";
import type { Reader } from "./page-scope.ts";
import { readReaders } from "./read-readers.ts";
import { type CenterHead, selectHeads } from "./store.ts";

/** The target of a link. */
export interface PageView {
  readonly head: CenterHead | undefined;
  readonly reader: Reader | undefined;
}

export type PageViews = (target: LinkTarget) => Promise<PageView>;

interface Asked extends LinkTarget {
  resolve(view: PageView): void;
  reject(error: unknown): void;
}

/**
 * Reads the present data for pages. Requests that come while a read runs are read together
 * afterwards: one view takes six statements, and so do a hundred of a workspace.
 */
export function createPageViews(database: Database): PageViews {
  let waiting: Asked[] = [];
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      await readAsked(database, asked).catch((error) => {
        for (const each of asked) each.reject(error);
      });
    }
    isReading = false;
  }

  return (target) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...target, resolve, reject });
      if (!isReading) void readAll();
    });
}

async function readAsked(database: Database, asked: readonly Asked[]): Promise<void> {
  await settleAll(
    [...groupBy(asked, ({ workspaceId }) => workspaceId)].map(async ([workspaceId, own]) => {
      const [heads, readers] = await settleAll([
        selectHeads(database, workspaceId, [...new Set(own.map((each) => each.centerId))]),
        readReaders(database, workspaceId, [...new Set(own.map((each) => each.profileId))]),
      ]);
      for (const { profileId, centerId, resolve } of own) {
        const head = heads.find((each) => each.id === centerId);
        resolve({ head, reader: readers.get(profileId) });
      }
    }),
  );
}
