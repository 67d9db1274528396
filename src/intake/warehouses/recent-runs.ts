import type { Queryable } from "../../database/database.ts";
import type { WorkspaceId } from "./list.ts";
import { type RunRows, selectRunsSince } from "./progress-store.ts";
import { type IntegrationRow, selectIntegrations } from "./store.ts";

/* The syncs in the overview of a workspace. */

/** More runs than a chart has points. */
const MOST_RUNS = 1_000;

export interface RecentSyncs {
  readonly integrations: readonly IntegrationRow[];
  /** Newest first. */
  readonly runs: readonly RunRows[];
}

/** The integrations of a workspace with how they stand, and their runs since a time. */
export async function readRecentSyncs(
  database: Queryable,
  { id }: WorkspaceId,
  since: Date,
): Promise<RecentSyncs> {
  const [integrations, runs] = [
    await selectIntegrations(database, id),
    await selectRunsSince(database, id, since, MOST_RUNS),
  ];
  return { integrations, runs };
}
