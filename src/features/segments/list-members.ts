import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { invalidCursor } from "../../core/base/pages.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import {
  type Database,
  type Queryable,
  readTogether,
  StatementTooLarge,
} from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import {
  DEFAULT_FIELDS,
  type ExportField,
  measurePortions,
  type PortionOfUsers,
  viewInPortions,
  viewUsers,
} from "../export/feature.ts";
import { EVERYONE, type Filter, leavesOf, readFilter, sentenceOf } from "./filter.ts";
import { readFitting } from "./fit.ts";
import { countMembersOfEach, explainMember, type Reason, readMembers } from "./members.ts";
import { BEFORE_ALL, type Portion } from "./members-store.ts";
import { createPace, type Pace, SLICE_MS } from "./pace.ts";
import { filterOf, readSegments, scopeFor, type WantedFilter } from "./scope.ts";

/** How long a page may take; it may then have fewer users than requested. */
const PAGE_MS = 2_000;

/** How many users are shown at a time, and how many bytes a page may take. */
const SHOWN = 50;
const MOST_BYTES = 4_194_304;

export interface MembersPage {
  readonly users: readonly Record<string, unknown>[];
  /** Null after the last user. */
  readonly cursor: string | null;
}

/**
 * Reads users who meet a filter, in the form of an export and in the order of their ids.
 *
 * @param cursor the cursor of the page before.
 * @throws Problem as `filterOf` does; INVALID_REQUEST for a cursor that is none.
 */
export async function listMembers(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  wanted: WantedFilter & { readonly limit: number; readonly cursor?: string | undefined },
): Promise<MembersPage> {
  const { cursor = BEFORE_ALL, limit } = wanted;
  if (!isUuid(cursor)) throw invalidCursor();
  const { filter } = await filterOf(database, context, wanted);
  const { workspace } = context;
  const analysis = database.for("analysis");
  const now = clock.now();
  const until = performance.now() + PAGE_MS;
  const users: Record<string, unknown>[] = [];
  let bytes = 0;
  let after = cursor;

  /** @returns false if the page is full. */
  async function show(ids: readonly string[]): Promise<boolean> {
    for (let first = 0; first < ids.length; first += SHOWN) {
      const some = ids.slice(first, first + Math.min(SHOWN, limit - users.length));
      const isFull = await readTogether(database.for("lookup"), async (tx) => {
        for await (const shown of viewInPortions(tx, workspace, some, DEFAULT_FIELDS, now)) {
          users.push(...shown.users);
          bytes += shown.bytes;
          after = shown.ids.at(-1) ?? after;
          if (users.length >= limit || bytes > MOST_BYTES) return true;
        }
        return false;
      });
      if (isFull) return false;
    }
    return true;
  }

  const pace = createPace(leavesOf(filter).length);
  for (;;) {
    const { ids, lastId } = await readSlice(analysis, workspace.id, after, filter, now, pace);
    const isFull = !(await show(ids));
    if (!isFull && lastId === null) return { users, cursor: null };
    if (!isFull) after = lastId ?? after;
    if (isFull || performance.now() > until) return { users, cursor: after };
  }
}

/** The next users who meet a filter, in a transaction of their own. */
function readSlice(
  analysis: Database,
  workspaceId: number,
  after: string,
  filter: Filter,
  now: Date,
  pace: Pace,
): ReturnType<typeof readMembers> {
  const portion: Portion = { kind: "next", after, size: pace.size() };
  return readFitting(analysis, { workspaceId, portion, now }, [filter], async (look) => {
    const startedAt = performance.now();
    const found = await readMembers(look, filter);
    pace.took(performance.now() - startedAt, SLICE_MS);
    return found;
  });
}

/** Some of the users who meet a filter, and where to go on after them. */
export interface MembersStep {
  readonly users: readonly Record<string, unknown>[];
  /** The last user that was looked at. */
  readonly after: string;
}

/**
 * Reads all users who meet a filter in portions, each on its own snapshot: a slow reader keeps none
 * open.
 *
 * @param filter as declared.
 * @param from where an earlier walk stopped.
 * @throws Problem if something the filter names no longer exists.
 */
export async function* walkMembers(
  { database, clock }: StoringServices,
  workspace: Workspace,
  { filter, fields }: { readonly filter: Json; readonly fields: readonly ExportField[] },
  from: string = BEFORE_ALL,
): AsyncGenerator<MembersStep> {
  const read = readFilter(filter, await scopeFor(database, workspace.id, [filter]));
  const analysis = database.for("analysis");
  const pace = createPace(leavesOf(read).length);
  const found: string[] = [];
  let after: string | null = from;
  while (after !== null) {
    const now = clock.now();
    const { ids, lastId }: Awaited<ReturnType<typeof readMembers>> = await readSlice(
      analysis,
      workspace.id,
      after,
      read,
      now,
      pace,
    );
    found.push(...ids);
    // Steps of one size, whatever a slice had: files are filled with them.
    while (found.length >= SHOWN || (lastId === null && found.length > 0)) {
      yield* stepsOf(found.splice(0, SHOWN), now);
    }
    after = lastId;
  }

  /** Each step runs in its own transaction; usually a single transaction is enough. */
  async function* stepsOf(ids: readonly string[], now: Date): AsyncGenerator<MembersStep> {
    const lookup = database.for("lookup");
    const view = async (tx: Queryable, portion: PortionOfUsers | undefined) =>
      viewUsers(tx, workspace, portion?.ids ?? [], fields, now);
    const [portions, first] = await readTogether(lookup, async (tx) => {
      const found = await measurePortions(tx, workspace.id, ids);
      return [found, await view(tx, found[0])] as const;
    });
    for (const [index, portion] of portions.entries()) {
      const users = index === 0 ? first : await readTogether(lookup, (tx) => view(tx, portion));
      yield { users, after: portion.ids.at(-1) ?? from };
    }
  }
}

/**
 * Reads the filter of a request about users who are already picked.
 *
 * @returns the filter as a sentence, and which of some users meet it.
 * @throws Problem as `filterOf` does.
 */
export async function readUserFilter(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  wanted: WantedFilter,
) {
  const { filter } = await filterOf(database, context, wanted);
  const workspaceId = context.workspace.id;
  const analysis = database.for("analysis");
  const now = clock.now();
  const membersOf = async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const members: string[] = [];
    for (let left = [...new Set(ids)]; left.length > 0; ) {
      const portion = { kind: "these", ids: left, size: left.length } as const;
      const found = await readFitting(analysis, { workspaceId, portion, now }, [filter], (look) =>
        readMembers(look, filter),
      );
      members.push(...found.ids);
      const { lastId } = found;
      left = lastId === null ? [] : left.filter((id) => id > lastId);
    }
    return new Set(members);
  };
  return { sentence: sentenceOf(filter), membersOf };
}

/** How many conditions a statement decides about, unless one segment has more. */
const CONDITIONS_AT_ONCE = 50;

export interface SegmentsOfUser {
  readonly segments: { readonly id: string; readonly name: string; readonly description: string }[];
  /** Segments that cannot be decided, and why. */
  readonly skipped: { readonly id: string; readonly name: string; readonly reason: string }[];
}

/** The segments that a user is in, the oldest first. @throws Problem NOT_FOUND for an unknown user. */
export async function segmentsOfUser(
  { database, clock }: StoringServices,
  { workspace }: WorkspaceContext,
  userId: string,
): Promise<SegmentsOfUser> {
  const lookup = database.for("lookup");
  const one = {
    workspaceId: workspace.id,
    portion: { kind: "one", id: userId },
    now: clock.now(),
  } as const;
  const countEach = (filters: readonly Filter[]) =>
    readFitting(lookup, one, filters, (look) => countMembersOfEach(look, filters));
  const [user] = await countEach([EVERYONE]);
  if (user?.seen !== 1) throw new Problem("NOT_FOUND", "User not found");
  const { readable, skipped } = await readSegments(database, workspace.id);
  const segments: SegmentsOfUser["segments"] = [];
  for (const some of inGroups(readable)) {
    const counts = await countEach(some.map(({ read }) => read)).catch((error: unknown) => {
      if (!(error instanceof StatementTooLarge)) throw error;
      skipped.push(...some.map(({ id, name }) => ({ id, name, reason: error.message })));
      return [];
    });
    const found = some.filter((_, index) => counts[index]?.matching === 1);
    segments.push(
      ...found.map(({ id, name, read }) => ({ id, name, description: sentenceOf(read) })),
    );
  }
  return { segments, skipped };
}

function inGroups<Segment extends { readonly read: Filter }>(
  segments: readonly Segment[],
): Segment[][] {
  const groups: Segment[][] = [];
  let conditions = Number.POSITIVE_INFINITY;
  for (const segment of segments) {
    const more = leavesOf(segment.read).length;
    conditions += more;
    if (conditions > CONDITIONS_AT_ONCE) {
      groups.push([]);
      conditions = more;
    }
    groups.at(-1)?.push(segment);
  }
  return groups;
}

/** Whether a user meets a filter, and why. @throws Problem NOT_FOUND for an unknown user. */
export async function explain(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  wanted: WantedFilter & { readonly user_id: string },
): Promise<{ readonly isMember: boolean; readonly reasons: readonly Reason[] }> {
  const { filter } = await filterOf(database, context, wanted);
  const id = wanted.user_id.toLowerCase();
  const { workspace } = context;
  const one = {
    workspaceId: workspace.id,
    portion: { kind: "one", id },
    now: clock.now(),
  } as const;
  const found = await readFitting(database.for("lookup"), one, [filter], (look) =>
    explainMember(look, filter),
  );
  if (!found) throw new Problem("NOT_FOUND", "User not found");
  return found;
}
