import type { Workspace } from "../../core/base/context/workspace.ts";
import type { Tracing } from "../../core/base/observe/tracing.ts";
import { type Database, type Queryable, readTogether } from "../../core/database/database.ts";
import { createSharedTransactions } from "../../core/database/shared-transactions.ts";
import { findHolders } from "../../core/people/profiles/find-holders.ts";
import { type ExportField, type ProfileSource, profileView } from "./profile-view.ts";
import { readSmallUsers } from "./read-small-users.ts";
import { withEmailStates } from "./view-users.ts";
import { leadToOneEach, MOST_HOLDERS, refuseTooManyUsers, type Wanted } from "./wanted-users.ts";

export interface WantedExport {
  readonly workspace: Workspace;
  readonly wanted: readonly Wanted[];
  readonly fields: readonly ExportField[];
}

export interface Exported {
  readonly users: Record<string, unknown>[];
  /** The given identifiers that name no user; absent if there are none. */
  readonly invalid_user_ids?: unknown[];
}

export type SmallExports = ReturnType<typeof createSmallExports>;

/** How many users one transaction reads, at most (lab/NOTEBOOK.md). */
const USERS_TOGETHER = 200;

/** How many transactions a process reads at the same time: one is shown while the other is read. */
const AT_ONCE = 2;

/** After a group of exports was too large, this workspace's exports are read one at a time for this long. */
const APART_MS = 60_000;

/**
 * Exports of small profiles, as nearly all are. Requests that wait share their statements: planning those and the
 * round trips cost about as much for one request as for four.
 */
export function createSmallExports({
  database,
  tracing,
}: {
  readonly database: Database;
  readonly tracing: Tracing;
}) {
  /** Until when the exports of a workspace are read one by one. */
  const apartUntil = new Map<number, number>();
  const transactions = createSharedTransactions<WantedExport, Exported | undefined>({
    name: "export users",
    tracing,
    depth: AT_ONCE,
    mostTogether: USERS_TOGETHER,
    async runTogether(exports) {
      const read = await readTogether(database, (tx) => readExports(tx, exports));
      if (read || exports.length === 1) return read ?? [undefined];
      const [{ workspace }] = exports as [WantedExport];
      apartUntil.set(workspace.id, performance.now() + APART_MS);
      throw new Error("Too much to be read together.");
    },
  });

  function sizeOf({ workspace, wanted }: WantedExport): number {
    const until = apartUntil.get(workspace.id);
    if (until !== undefined && until < performance.now()) apartUntil.delete(workspace.id);
    const goesTogether = !apartUntil.has(workspace.id) && leadToOneEach(wanted);
    return goesTogether ? wanted.length : USERS_TOGETHER;
  }

  return {
    /**
     * Reads an export together with others that wait, from one snapshot.
     *
     * @returns undefined if something is too large to be read without measuring it first.
     * @throws Problem INVALID_REQUEST over the budget of an export.
     */
    read: (wanted: WantedExport) =>
      transactions.run(wanted.workspace.id, wanted, sizeOf(wanted), database),
  };
}

/** Reads exports of one workspace together. @returns undefined if one of them is too large for that. */
async function readExports(
  tx: Queryable,
  exports: readonly WantedExport[],
): Promise<Exported[] | undefined> {
  const [{ workspace }] = exports as [WantedExport];
  const wanted = exports.flatMap((each) => each.wanted);
  const fields = [...new Set(exports.flatMap((each) => each.fields))];
  const identifiers = wanted.map((each) => each.identifier);
  const most = exports.length * MOST_HOLDERS;
  const holders = await findHolders(tx, workspace.id, identifiers, most);
  const ids = [...idsOf(wanted, holders)];
  if (exports.length === 1) refuseTooManyUsers(ids);
  if (ids.length === 0) return exports.map((each) => exportedOf(each, holders, []));
  const stored = await readSmallUsers(tx, workspace, ids, fields);
  if (!stored) return undefined;
  const sources = await withEmailStates(tx, workspace, stored, fields);
  return exports.map((each) => exportedOf(each, holders, sources));
}

type Holders = Awaited<ReturnType<typeof findHolders>>;

export const idsOf = (wanted: readonly Wanted[], holders: Holders): ReadonlySet<string> =>
  new Set(wanted.flatMap(({ key }) => holders.get(key) ?? []));

/** The exported form of users that were read, for this export and for others. */
export function exportedOf(
  { wanted, fields }: WantedExport,
  holders: Holders,
  sources: readonly ProfileSource[],
): Exported {
  const ids = idsOf(wanted, holders);
  const shown = sources.filter(({ profile }) => ids.has(profile.id));
  const existing = new Set(shown.map(({ profile }) => profile.id));
  const invalid = wanted.filter(({ key }) => !holders.get(key)?.some((id) => existing.has(id)));
  return {
    users: shown.map((source) => profileView(source, fields)),
    ...(invalid.length > 0 && { invalid_user_ids: invalid.map((each) => each.given) }),
  };
}
