import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { readFilter, sentenceOf } from "./filter.ts";
import { scopeOf } from "./scope.ts";
import { type StoredSegment, selectSegments } from "./store.ts";

const PAGE_SIZE = 100;

/** The segments of a page, from page 0 on, the oldest first or last. */
export async function listSegments(
  { database }: Pick<StoringServices, "database">,
  { workspace }: WorkspaceContext,
  page: number,
  direction: "asc" | "desc",
): Promise<StoredSegment[]> {
  const segments = await selectSegments(database, workspace.id);
  if (direction === "desc") segments.reverse();
  return segments.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
}

/** A segment, and its filter as a sentence. @throws Problem NOT_FOUND */
export async function describeSegment(
  { database }: Pick<StoringServices, "database">,
  { workspace }: WorkspaceContext,
  segmentId: string,
): Promise<StoredSegment & { readonly sentence: string }> {
  const segments = await selectSegments(database, workspace.id);
  const segment = segments.find(({ id }) => id === segmentId.toLowerCase());
  if (!segment) throw new Problem("NOT_FOUND", "Segment not found");
  const scope = await scopeOf(database, workspace.id, segments);
  return { ...segment, sentence: sentenceOf(readFilter(segment.filter, scope, { isKept: true })) };
}
