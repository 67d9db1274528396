import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { forwardPage, invalidCursor, opaqueCursor, readOpaque } from "../../base/pages.ts";
import { Problem } from "../../base/problem.ts";
import { EmailStateName } from "../../base/values/email-states.ts";
import { readQueryTime } from "../../base/values/query-time.ts";
import { NullableText, named } from "../../base/values/schemas.ts";
import { parseTime } from "../../base/values/times.ts";
import { type Database, type Queryable, readTogether, settleAll } from "../../database/database.ts";
import { findHolders } from "../profiles/find-holders.ts";
import { emailValue, identifierKey, isProfileId } from "../profiles/identifiers.ts";
import { selectProfiles } from "../profiles/store.ts";
import {
  type EmailStateChange,
  type GroupStateChange,
  type HistoryFilter,
  selectEmailStateChanges,
  selectGroupStateChanges,
} from "./history-store.ts";

export const HistoryQuery = Type.Object({
  external_id: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  subscription_group_id: Type.Optional(Type.String()),
  since: Type.Optional(Type.String()),
  until: Type.Optional(Type.String()),
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
});

type HistoryQuery = Static<typeof HistoryQuery>;

/** One change of a state of a profile or an address, and the call that made it. */
export const HistoryEntry = named("SubscriptionChange", {
  id: Type.String(),
  changed_at: Type.String(),
  /** Null if it is the email state. */
  subscription_group_id: NullableText,
  subscription_state: EmailStateName,
  platform_id: NullableText,
  external_id: NullableText,
  email: NullableText,
  call: Type.String(),
  key_name: NullableText,
  request_id: Type.String(),
});

type HistoryEntry = Static<typeof HistoryEntry>;

type AnyChange = GroupStateChange | EmailStateChange;

const PAGE_SIZE = 100;

/**
 * Reads the history of states, newest first, so that consent can be proved. `external_id` selects
 * the group states of the user and the state of their address; `email` selects the changes of all
 * users of the address. `since` is included, `until` is not.
 *
 * @returns a page, and the cursor of the next one if there is one.
 * @throws Problem INVALID_REQUEST.
 */
export async function readHistory(
  { database }: { readonly database: Database },
  context: WorkspaceContext,
  query: HistoryQuery,
): Promise<{ changes: HistoryEntry[]; next_cursor?: string }> {
  const limit = query.limit ?? PAGE_SIZE;
  const narrowed = {
    groupId: query.subscription_group_id,
    since: readQueryTime("since", query.since),
    until: readQueryTime("until", query.until),
    before: query.cursor === undefined ? undefined : readCursor(query.cursor),
    limit: limit + 1,
  };
  if (query.external_id !== undefined && query.email !== undefined) {
    throw new Problem("INVALID_REQUEST", "Only one of 'external_id' and 'email' is allowed.");
  }
  const { workspace } = context;
  return readTogether(database, async (tx) => {
    const filter = { ...narrowed, ...(await subjectsOf(tx, workspace.id, query)) };
    const [groups, emails] = await settleAll([
      selectGroupStateChanges(tx, workspace.id, filter),
      filter.groupId === undefined
        ? selectEmailStateChanges(tx, workspace.id, filter)
        : Promise.resolve([]),
    ]);
    const found = [...groups, ...emails].sort(newestFirst);
    const { rows, next } = forwardPage(found, limit, cursorOf);
    const externalIds = await readExternalIds(tx, workspace.id, rows);
    return { changes: rows.map((change) => entryOf(change, externalIds)), ...next };
  });
}

/** The users to read the history of; undefined for all users. */
async function subjectsOf(
  tx: Queryable,
  workspaceId: number,
  { external_id, email }: HistoryQuery,
): Promise<Pick<HistoryFilter, "profileIds" | "emails">> {
  if (external_id === undefined && email === undefined) {
    return { profileIds: undefined, emails: undefined };
  }
  const identifier =
    email === undefined
      ? { kind: "external_id" as const, value: external_id ?? "" }
      : { kind: "email" as const, value: emailValue(email.replaceAll(" ", "+")) };
  const found = await findHolders(tx, workspaceId, [identifier]);
  const profileIds = found.get(identifierKey(identifier)) ?? [];
  if (identifier.kind === "email") return { profileIds, emails: [identifier.value] };
  const profiles = await selectProfiles(tx, workspaceId, profileIds, "bare");
  const emails = profiles.flatMap((profile) => (profile.email ? [emailValue(profile.email)] : []));
  return { profileIds, emails };
}

async function readExternalIds(
  tx: Queryable,
  workspaceId: number,
  changes: readonly AnyChange[],
): Promise<ReadonlyMap<string, string | null>> {
  const ids = new Set(changes.flatMap((each) => ("profileId" in each ? [each.profileId] : [])));
  const profiles = await selectProfiles(tx, workspaceId, [...ids], "bare");
  return new Map(profiles.map((profile) => [profile.id, profile.externalId]));
}

function entryOf(change: AnyChange, externalIds: ReadonlyMap<string, string | null>): HistoryEntry {
  const isGroup = "profileId" in change;
  return {
    id: change.id,
    changed_at: change.changedAt.toISOString(),
    subscription_group_id: isGroup ? change.groupId : null,
    subscription_state: change.state,
    platform_id: isGroup ? change.profileId : null,
    external_id: isGroup ? (externalIds.get(change.profileId) ?? null) : null,
    email: isGroup ? null : (change.spelling ?? change.email),
    call: change.context.call,
    key_name: change.context.actorName,
    request_id: change.context.requestId,
  };
}

/** By time, then by id, as the statements sort. */
const newestFirst = (one: AnyChange, other: AnyChange): number =>
  other.changedAt.getTime() - one.changedAt.getTime() || (one.id < other.id ? 1 : -1);

const cursorOf = ({ changedAt, id }: AnyChange): string =>
  opaqueCursor(`${changedAt.toISOString()} ${id}`);

function readCursor(cursor: string): NonNullable<HistoryFilter["before"]> {
  const [time = "", id = ""] = readOpaque(cursor, /^(\S+) (\S+)$/);
  const changedAt = parseTime(time);
  if (!changedAt || !isProfileId(id)) throw invalidCursor();
  return { changedAt, id };
}
