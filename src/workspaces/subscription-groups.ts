import type { Queryable } from "../database/database.ts";
import { type GroupRow, selectGroups } from "./store.ts";

/** A subscription group, and whether a manifest declared it. */
export type SubscriptionGroup = GroupRow;

/** All groups of a workspace, however they were made, by name. */
export const readGroups = (
  database: Queryable,
  workspaceId: number,
): Promise<SubscriptionGroup[]> => selectGroups(database, workspaceId);
