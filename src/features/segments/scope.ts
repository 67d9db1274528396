import { readApps } from "../../core/admin/workspaces/apps.ts";
import { readGroups } from "../../core/admin/workspaces/subscription-groups.ts";
import { hidesPeople, type WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import { type Filter, type ReadingRules, readFilter } from "./filter.ts";
import type { FilterScope } from "./leaf.ts";
import { type SegmentRow, selectSegments } from "./store.ts";

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

export type ReadSegment = SegmentRow & { readonly read: Filter };

/** The segments of a workspace, the oldest first, apart from those that cannot be counted, with the reason. */
export async function readSegments(
  tx: Queryable,
  workspaceId: number,
): Promise<{
  readonly readable: readonly ReadSegment[];
  readonly skipped: { readonly id: string; readonly name: string; readonly reason: string }[];
}> {
  const segments = await selectSegments(tx, workspaceId);
  const scope = await scopeOf(tx, workspaceId, segments);
  const all = segments.map((segment) => ({ segment, read: readOrReason(segment.filter, scope) }));
  return {
    readable: all.flatMap(({ segment, read }) =>
      typeof read === "string" ? [] : [{ ...segment, read }],
    ),
    skipped: all.flatMap(({ segment: { id, name }, read }) =>
      typeof read === "string" ? [{ id, name, reason: read }] : [],
    ),
  };
}

/** A stored filter, or why it cannot be counted: something that it names is gone, or it may not be read. */
export function readOrReason(
  filter: unknown,
  scope: FilterScope,
  rules?: ReadingRules,
): Filter | string {
  try {
    return readFilter(filter, scope, rules);
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

/** A filter in a request: inline, or the filter of a segment. */
export interface WantedFilter {
  readonly filter?: unknown;
  readonly segment_id?: string | undefined;
}

/**
 * Reads the filter that a request names.
 *
 * @throws Problem INVALID_REQUEST unless it names one, or with the place of a fault; NOT_FOUND for an unknown segment;
 *   FORBIDDEN for an attribute that identifies people, if the caller may not see who they are.
 */
export async function filterOf(
  tx: Queryable,
  context: WorkspaceContext,
  { filter, segment_id }: WantedFilter,
): Promise<{
  readonly filter: Filter;
  readonly given: SegmentRow["filter"];
  readonly scope: FilterScope;
}> {
  if ((filter === undefined) === (segment_id === undefined)) {
    throw new Problem("INVALID_REQUEST", "Either 'filter' or 'segment_id' must be given.");
  }
  const scope = await scopeOf(tx, context.workspace.id);
  const segment =
    segment_id === undefined ? { filter } : scope.segments.get(segment_id.toLowerCase());
  if (!segment) throw new Problem("NOT_FOUND", "Segment not found");
  const rules = { hidesPeople: hidesPeople(context) };
  const given = segment.filter as SegmentRow["filter"];
  return { filter: readFilter(given, scope, rules), given, scope };
}
