import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { readFilter, sentenceOf } from "./filter.ts";
import { findSegment, scopeFor } from "./scope.ts";
import { type SegmentSummary, type StoredSegment, selectSummaries } from "./store.ts";

const PAGE_SIZE = 100;

/** The segments of a page, from page 0 on, the oldest first or last. */
export function listSegments(
  { database }: Pick<StoringServices, "database">,
  { workspace }: WorkspaceContext,
  page: number,
  direction: "asc" | "desc",
): Promise<SegmentSummary[]> {
  const range = { offset: page * PAGE_SIZE, limit: PAGE_SIZE };
  return selectSummaries(database, workspace.id, direction, range);
}

/** A segment, and its filter as a sentence. @throws Problem NOT_FOUND */
export async function describeSegment(
  { database }: Pick<StoringServices, "database">,
  { workspace }: WorkspaceContext,
  segmentId: string,
): Promise<StoredSegment & { readonly sentence: string }> {
  const segment = await findSegment(database, workspace.id, segmentId);
  const scope = await scopeFor(database, workspace.id, [segment.filter]);
  return { ...segment, sentence: sentenceOf(readFilter(segment.filter, scope, { isKept: true })) };
}
