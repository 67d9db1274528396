import type { WorkspaceContext } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { invalidCursor } from "../../base/pages.ts";
import { Problem } from "../../base/problem.ts";
import type { Json } from "../../base/values/plain-json.ts";
import { isUuid } from "../../base/values/uuid.ts";
import { type Queryable, readTogether } from "../../database/database.ts";
import { DEFAULT_FIELDS, type ExportField } from "../export/profile-view.ts";
import {
  measurePortions,
  type PortionOfUsers,
  viewInPortions,
} from "../export/view-in-portions.ts";
import { viewUsers } from "../export/view-users.ts";
import type { CountServices } from "./count-exactly.ts";
import { EVERYONE, readFilter, sentenceOf } from "./filter.ts";
import { countMembersOfEach, explainMember, type Reason, readMembers } from "./members.ts";
import { BEFORE_ALL, type Portion } from "./members-store.ts";
import { filterOf, scopeOf, type WantedFilter } from "./scope.ts";
import { selectSegments } from "./store.ts";

/** How many users a statement looks at. */
const LOOKED_AT = 5_000;

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
  { database, clock }: CountServices,
  { workspace }: WorkspaceContext,
  wanted: WantedFilter & { readonly limit: number; readonly cursor?: string | undefined },
): Promise<MembersPage> {
  const { cursor = BEFORE_ALL, limit } = wanted;
  if (!isUuid(cursor)) throw invalidCursor();
  const { filter } = await filterOf(database, workspace.id, wanted);
  const now = clock.now();
  const until = performance.now() + PAGE_MS;
  const users: Record<string, unknown>[] = [];
  let bytes = 0;
  let after = cursor;

  /** @returns false if the page is full. */
  async function show(tx: Queryable, ids: readonly string[]): Promise<boolean> {
    for (let first = 0; first < ids.length; first += SHOWN) {
      const some = ids.slice(first, first + Math.min(SHOWN, limit - users.length));
      for await (const shown of viewInPortions(tx, workspace, some, DEFAULT_FIELDS, now)) {
        users.push(...shown.users);
        bytes += shown.bytes;
        after = shown.ids.at(-1) ?? after;
        if (users.length >= limit || bytes > MOST_BYTES) return false;
      }
    }
    return true;
  }

  for (;;) {
    const portion = { kind: "next", after, size: LOOKED_AT } as const;
    const goesOn = await readTogether(database.for("analysis"), async (tx) => {
      const { ids, lastId } = await readMembers(tx, workspace.id, portion, filter, now);
      if (!(await show(tx, ids))) return true;
      if (lastId === null) return false;
      after = lastId;
      return true;
    });
    if (!goesOn) return { users, cursor: null };
    if (users.length >= limit || bytes > MOST_BYTES || performance.now() > until) {
      return { users, cursor: after };
    }
  }
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
  { database, clock }: CountServices,
  workspace: Workspace,
  { filter, fields }: { readonly filter: Json; readonly fields: readonly ExportField[] },
  from: string = BEFORE_ALL,
): AsyncGenerator<MembersStep> {
  const read = readFilter(filter, await scopeOf(database, workspace.id));
  const analysis = database.for("analysis");
  let after: string | null = from;
  while (after !== null) {
    const now = clock.now();
    const portion: Portion = { kind: "next", after, size: LOOKED_AT };
    const { ids, lastId }: Awaited<ReturnType<typeof readMembers>> = await readTogether(
      analysis,
      (tx) => readMembers(tx, workspace.id, portion, read, now),
    );
    for (let first = 0; first < ids.length; first += SHOWN) {
      const some = ids.slice(first, first + SHOWN);
      yield* stepsOf(some, now);
    }
    after = lastId;
  }

  /** Each step runs in its own transaction; usually a single transaction is enough. */
  async function* stepsOf(ids: readonly string[], now: Date): AsyncGenerator<MembersStep> {
    const view = async (tx: Queryable, portion: PortionOfUsers | undefined) =>
      viewUsers(tx, workspace, portion?.ids ?? [], fields, now);
    const [portions, first] = await readTogether(analysis, async (tx) => {
      const found = await measurePortions(tx, workspace.id, ids);
      return [found, await view(tx, found[0])] as const;
    });
    for (const [index, portion] of portions.entries()) {
      const users = index === 0 ? first : await readTogether(analysis, (tx) => view(tx, portion));
      yield { users, after: portion.ids.at(-1) ?? from };
    }
  }
}

/** How many segments a statement decides about. */
const SEGMENTS_AT_ONCE = 50;

/** The segments that a user is in, the oldest first. @throws Problem NOT_FOUND for an unknown user. */
export async function segmentsOfUser(
  { database, clock }: CountServices,
  { workspace }: WorkspaceContext,
  userId: string,
): Promise<{ readonly id: string; readonly name: string; readonly description: string }[]> {
  const segments = await selectSegments(database, workspace.id);
  const scope = await scopeOf(database, workspace.id, segments);
  const all = segments.map((segment) => ({ ...segment, read: readFilter(segment.filter, scope) }));
  const portion = { kind: "one", id: userId } as const;
  return readTogether(database.for("lookup"), async (tx) => {
    const [user] = await countMembersOfEach(tx, workspace.id, portion, [EVERYONE], clock.now());
    if (user?.seen !== 1) throw new Problem("NOT_FOUND", "User not found");
    const found: (typeof all)[number][] = [];
    for (let first = 0; first < all.length; first += SEGMENTS_AT_ONCE) {
      const some = all.slice(first, first + SEGMENTS_AT_ONCE);
      const filters = some.map(({ read }) => read);
      const counts = await countMembersOfEach(tx, workspace.id, portion, filters, clock.now());
      found.push(...some.filter((_, index) => counts[index]?.matching === 1));
    }
    return found.map(({ id, name, read }) => ({ id, name, description: sentenceOf(read) }));
  });
}

/** Whether a user meets a filter, and why. @throws Problem NOT_FOUND for an unknown user. */
export async function explain(
  { database, clock }: CountServices,
  { workspace }: WorkspaceContext,
  wanted: WantedFilter & { readonly user_id: string },
): Promise<{ readonly isMember: boolean; readonly reasons: readonly Reason[] }> {
  const { filter } = await filterOf(database, workspace.id, wanted);
  const id = wanted.user_id.toLowerCase();
  const found = await readTogether(database.for("lookup"), (tx) =>
    explainMember(tx, workspace.id, id, filter, clock.now()),
  );
  if (!found) throw new Problem("NOT_FOUND", "User not found");
  return found;
}
