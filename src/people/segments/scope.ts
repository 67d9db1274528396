import { readApps } from "../../admin/workspaces/apps.ts";
import { readGroups } from "../../admin/workspaces/subscription-groups.ts";
import { Problem } from "../../base/problem.ts";
import { type Queryable, settleAll } from "../../database/database.ts";
import { type Filter, readFilter } from "./filter.ts";
import type { FilterScope } from "./leaf.ts";
import { type SegmentRow, selectSegments } from "./store.ts";

/** What filters of a workspace may refer to. */
export async function scopeOf(
  tx: Queryable,
  workspaceId: number,
  segments: readonly SegmentRow[] | undefined = undefined,
): Promise<FilterScope> {
  const [groups, apps, all] = await settleAll([
    readGroups(tx, workspaceId),
    readApps(tx, workspaceId),
    segments ? Promise.resolve(segments) : selectSegments(tx, workspaceId),
  ]);
  return {
    groups: new Map(groups.map((group) => [group.id, group])),
    apps: new Map(apps.map((app) => [app.id, app])),
    segments: new Map(all.map((segment) => [segment.id, segment])),
  };
}

/** A filter in a request: inline, or that of a segment. */
export interface WantedFilter {
  readonly filter?: unknown;
  readonly segment_id?: string | undefined;
}

/**
 * Reads the filter that a request names.
 *
 * @throws Problem INVALID_REQUEST unless it names one, or with the place of a fault; NOT_FOUND for an unknown segment.
 */
export async function filterOf(
  tx: Queryable,
  workspaceId: number,
  { filter, segment_id }: WantedFilter,
): Promise<{
  readonly filter: Filter;
  readonly given: SegmentRow["filter"];
  readonly scope: FilterScope;
}> {
  if ((filter === undefined) === (segment_id === undefined)) {
    throw new Problem("INVALID_REQUEST", "Either 'filter' or 'segment_id' must be given.");
  }
  const scope = await scopeOf(tx, workspaceId);
  if (segment_id === undefined) {
    return { filter: readFilter(filter, scope), given: filter as SegmentRow["filter"], scope };
  }
  const segment = scope.segments.get(segment_id.toLowerCase());
  if (!segment) throw new Problem("NOT_FOUND", "Segment not found");
  return {
    filter: readFilter(segment.filter, scope),
    given: segment.filter as SegmentRow["filter"],
    scope,
  };
}
