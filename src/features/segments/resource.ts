import { isDeepStrictEqual } from "node:util";
import Type, { type Static } from "typebox";
import { listedResource } from "../../core/admin/workspaces/listed-resource.ts";
import { Name } from "../../core/admin/workspaces/manifest.ts";
import { hidesPeople, type WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { ClosedObject, Text } from "../../core/base/values/schemas.ts";
import { sum } from "../../core/base/values/sum.ts";
import type { Transaction } from "../../core/database/database.ts";
import { recordSizesAgain } from "./daily-sizes.ts";
import { bytesOfFilter, readFilter, SUBJECT_NAMES, segmentsIn } from "./filter.ts";
import { scopeOf } from "./scope.ts";
import { deleteSegments, type SegmentRow, selectSegments, upsertSegments } from "./store.ts";

/** Of all filters as JSON: some calls read all of them. */
const MOST_FILTER_BYTES = 8 * 1_048_576;

/**
 * A filter as sent and declared. The use case checks it, because only it can name the place of a
 * fault.
 */
export const FilterSchema = Type.Unsafe<Record<string, Json>>(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        "{ all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of " +
        `${SUBJECT_NAMES.join(", ")}. At most 50 conditions in 5 levels, and 256 KB. docs/segments.md has the language.`,
      examples: [{ all: [{ event: "signed_up" }, { attribute: "country", equals: "DE" }] }],
    },
  ),
);

const DeclaredSegment = ClosedObject({
  id: Type.String({ format: "uuid", description: "As requests name it." }),
  name: Name,
  description: Type.Optional(
    Text(
      "What the segment is for, in your own words.",
      "Bought twice in a month and can be mailed.",
      { maxLength: 1_000 },
    ),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100, examples: ["loyalty"] }), {
      maxItems: 50,
      description: "Words to find the segment by.",
    }),
  ),
  filter: FilterSchema,
});

type Segment = Required<Static<typeof DeclaredSegment>>;

/** Groups of users that a filter describes. Applied after everything that a filter can name. */
export const segments = listedResource<Segment, WorkspaceContext>({
  key: "segments",
  about: "Groups of users, each described by a filter.",
  schema: DeclaredSegment,
  identity: "id",
  unique: "name",
  kind: "segment",
  permissions: { read: "basic_access", write: "edit_segments" },
  nameOf: ({ name }) => name,
  complete(entry) {
    const { id, description = "", tags = [], ...segment } = entry as Static<typeof DeclaredSegment>;
    return { id: id.toLowerCase(), description, tags, ...segment };
  },
  async select(database, { workspace }) {
    const rows = await selectSegments(database, workspace.id);
    return rows.map(({ createdAt: _created, updatedAt: _updated, tags, filter, ...segment }) => ({
      ...segment,
      tags: [...tags],
      filter: filter as Segment["filter"],
    }));
  },
  async save(tx, context, entries, { clock }) {
    const before = await selectSegments(tx, context.workspace.id);
    await upsertSegments(tx, context.workspace.id, entries, clock.now());
    await refuseFaults(tx, context, before);
    const known = new Map(before.map(({ id, filter }) => [id, filter]));
    const changed = entries.filter(({ id, filter }) => !isDeepStrictEqual(known.get(id), filter));
    const ids = changed.map(({ id }) => id);
    if (ids.length > 0) await recordSizesAgain(tx, context.workspace.id, ids, clock);
  },
  async remove(tx, { workspace }, entries) {
    const ids = new Set(entries.map(({ id }) => id));
    const others = await selectSegments(tx, workspace.id);
    const user = others.find(
      ({ id, filter }) => !ids.has(id) && segmentsIn(filter).some((each) => ids.has(each)),
    );
    if (user) {
      throw new Problem("CONFLICT", `The segment '${user.name}' refers to it with 'in_segment'.`);
    }
    await deleteSegments(tx, workspace.id, [...ids]);
  },
});

/**
 * A filter that stays as it is need not keep to what was added since it was stored: neither to the bounds on its size and work,
 * so that an old manifest applies, nor to what the caller may filter by, who may change its name.
 *
 * @throws Problem if a segment's filter cannot be read, or they are too large together.
 */
async function refuseFaults(
  tx: Transaction,
  context: WorkspaceContext,
  before: readonly SegmentRow[],
): Promise<void> {
  const rows: readonly SegmentRow[] = await selectSegments(tx, context.workspace.id);
  const bytes = sumOfBytes(rows);
  // A workspace that had more before may change everything that makes it no larger.
  if (bytes > MOST_FILTER_BYTES && bytes > sumOfBytes(before)) {
    const most = `${MOST_FILTER_BYTES / 1_048_576} MB`;
    throw new Problem(
      "INVALID_REQUEST",
      `The filters of a workspace's segments have at most ${most} together, as JSON.`,
    );
  }
  const scope = await scopeOf(tx, context.workspace.id, rows);
  const known = new Map(before.map(({ id, filter }) => [id, filter]));
  for (const { id, name, filter } of rows) {
    const isKept = isDeepStrictEqual(known.get(id), filter);
    try {
      readFilter(filter, scope, { isKept, hidesPeople: !isKept && hidesPeople(context) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new Problem(error.code, `The segment '${name}': ${error.message}`, error.details);
    }
  }
}

const sumOfBytes = (rows: readonly SegmentRow[]): number =>
  sum(rows.map(({ filter }) => bytesOfFilter(filter)));
