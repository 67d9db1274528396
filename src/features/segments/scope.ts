import { readApps } from "../../core/admin/workspaces/apps.ts";
import { readGroups } from "../../core/admin/workspaces/subscription-groups.ts";
import { hidesPeople, type WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import { type Filter, type ReadingRules, readFilter, segmentsIn } from "./filter.ts";
import type { FilterScope } from "./leaf.ts";
import { type SegmentRow, selectSegments, selectSegmentsById } from "./store.ts";

/** What filters can name, apart from segments that are not given. */
export async function scopeOf(
  tx: Queryable,
  workspaceId: number,
  segments: readonly SegmentRow[],
): Promise<FilterScope> {
  const [groups, apps] = await settleAll([readGroups(tx, workspaceId), readApps(tx, workspaceId)]);
  return {
    groups: new Map(groups.map((group) => [group.id, group])),
    apps: new Map(apps.map((app) => [app.id, app])),
    segments: new Map(segments.map((segment) => [segment.id, segment])),
  };
}

/** What these filters can name. Of the segments, only those that they name are read. */
export async function scopeFor(
  tx: Queryable,
  workspaceId: number,
  filters: readonly unknown[],
): Promise<FilterScope> {
  const ids = [...new Set(filters.flatMap(segmentsIn))].filter(isUuid);
  return scopeOf(tx, workspaceId, await selectSegmentsById(tx, workspaceId, ids));
}

/** @throws Problem NOT_FOUND */
export async function findSegment(tx: Queryable, workspaceId: number, segmentId: string) {
  const ids = [segmentId.toLowerCase()].filter(isUuid);
  const [segment] = await selectSegmentsById(tx, workspaceId, ids);
  if (!segment) throw new Problem("NOT_FOUND", "Segment not found");
  return segment;
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
  const { id } = context.workspace;
  const segment = segment_id === undefined ? { filter } : await findSegment(tx, id, segment_id);
  const given = segment.filter as SegmentRow["filter"];
  const scope = await scopeFor(tx, id, [given]);
  const rules = { hidesPeople: hidesPeople(context) };
  return { filter: readFilter(given, scope, rules), given, scope };
}
