import type { Queryable } from "../database/database.ts";
import { type DeclaredApp, selectApps } from "./store.ts";

export type { DeclaredApp } from "./store.ts";

/** All apps of a workspace, however they were made, by id. */
export const readApps = (database: Queryable, workspaceId: number): Promise<DeclaredApp[]> =>
  selectApps(database, workspaceId);
