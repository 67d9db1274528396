import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { startTurns } from "../../base/turns.ts";
import { groupBy } from "../../base/values/group-by.ts";
import { sum } from "../../base/values/sum.ts";
import { type Queryable, settleAll, type Transaction } from "../../database/database.ts";
import { MANY_ROWS, type OnConflict } from "../activity/moves-store.ts";
import {
  byProfile,
  readAppActivity,
  readMessageCounts,
  readSummaries,
} from "../activity/read-activity.ts";
import { type ActivityPart, measureActivity } from "../activity/size-store.ts";
import { moveActivity } from "../activity/write-activity.ts";
import {
  type Carried,
  carrySubscriptionsOver,
  type ForgottenSubscriptions,
  forgetSubscriptions,
} from "../subscriptions/people-gone.ts";
import { readGroupStates } from "../subscriptions/states.ts";
import { combine, combineBelongings } from "./combine/combine.ts";
import type { Effect } from "./combine/effects.ts";
import { type Belongings, EMPTY, NO_BELONGINGS } from "./combine/whole.ts";
import type { Change } from "./identity-graph.ts";

/* The data of users outside their rows: read for all of them, combined in memory, written once. */

type BelongingsOf = ReadonlyMap<string, Belongings>;

/** A change with its effects on everything that belongs to the user. */
export interface AuditedChange {
  readonly change: Change;
  readonly effects: readonly Effect[];
  readonly belongings?: { readonly kept: Belongings; readonly merged: Belongings };
}

export interface Outcome {
  readonly audited: readonly AuditedChange[];
  /** By the id of the profile that finally has them. */
  readonly after: BelongingsOf;
}

/** Bytes that one request may combine in memory: enough for two users with 20,000 events each. */
const MOST_COMBINED_BYTES = 8 * 1_048_576;

/**
 * The data that is combined in memory; the message history and the events themselves move in the
 * database.
 */
const COMBINED: readonly ActivityPart[] = [
  "custom_events",
  "purchases",
  "apps",
  "devices",
  "interactions",
];

/**
 * Users whose data is read: merged users, and deleted users if the budget allows. A deletion needs
 * them only for its report, and must always be possible.
 *
 * @throws Problem INVALID_REQUEST if the merges by themselves exceed the budget.
 */
export async function withinBudget(
  database: Queryable,
  workspaceId: number,
  { merged, deleted }: { readonly merged: readonly string[]; readonly deleted: readonly string[] },
): Promise<readonly string[]> {
  const all = [...new Set([...merged, ...deleted])];
  if ((await combinedBytes(database, workspaceId, all)) <= MOST_COMBINED_BYTES) return all;
  const bytes = await combinedBytes(database, workspaceId, merged);
  if (bytes <= MOST_COMBINED_BYTES) return merged;
  throw new Problem(
    "INVALID_REQUEST",
    `The summaries, devices and interactions of the users to combine take about ${bytes} bytes, ` +
      `more than the ${MOST_COMBINED_BYTES} allowed. Send fewer users in one request.`,
  );
}

async function combinedBytes(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<number> {
  const sizes = await measureActivity(database, workspaceId, profileIds);
  return COMBINED.reduce((sum, part) => sum + (sizes.get(part) ?? 0), 0);
}

export async function readBelongings(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<BelongingsOf> {
  if (profileIds.length === 0) return new Map();
  const [{ events, purchases }, groupStates, { apps, devices, interactions }, messages] =
    await settleAll([
      readSummaries(database, workspaceId, profileIds),
      readGroupStates(database, workspaceId, profileIds),
      readAppActivity(database, workspaceId, profileIds),
      readMessageCounts(database, workspaceId, profileIds),
    ]);
  const [eventsOf, purchasesOf] = [byProfile(events), byProfile(purchases)];
  const statesOf = byProfile(groupStates);
  const [appsOf, devicesOf] = [byProfile(apps), byProfile(devices)];
  const interactionsOf = byProfile(interactions);
  return new Map(
    profileIds.map((id) => [
      id,
      {
        events: eventsOf(id),
        purchases: purchasesOf(id),
        groupStates: statesOf(id),
        apps: appsOf(id),
        devices: devicesOf(id),
        interactions: interactionsOf(id),
        messages: messages.get(id) ?? 0,
      },
    ]),
  );
}

/** Applies the changes to the belongings in order, in memory, and yields to other requests in between. */
export async function joinBelongings(
  changes: readonly Change[],
  before: BelongingsOf,
): Promise<Outcome> {
  const turns = startTurns();
  const after = new Map(before);
  const of = (id: string) => after.get(id) ?? NO_BELONGINGS;
  const join = (change: Change): AuditedChange => {
    if (change.kind === "identify") return { change, effects: change.effects };
    if (change.kind === "delete") {
      const whole = { profile: change.fields, belongings: of(change.user.platformId) };
      after.delete(change.user.platformId);
      return { change, effects: combine(EMPTY, whole, "all", false).effects.map(removed) };
    }
    const [keptId, mergedId] = [change.kept.platformId, change.merged.platformId];
    const belongings = { kept: of(keptId), merged: of(mergedId) };
    const { value, effects } = combineBelongings(belongings.kept, belongings.merged, change.extent);
    after.set(keptId, value);
    after.delete(mergedId);
    return { change, effects: [...change.effects, ...effects], belongings };
  };
  const audited: AuditedChange[] = [];
  for (const change of changes) {
    audited.push(join(change));
    if (turns.isOver()) await turns.next();
  }
  return { audited, after };
}

const removed = (effect: Effect): Effect => ({ ...effect, effect: "removed", result: null });

/** Writes the changed belongings. The transaction must have locked all profiles. @returns what became of subscriptions. */
export async function saveBelongings(
  tx: Transaction,
  workspaceId: number,
  {
    changes,
    before,
    after,
    abandonedEmails,
    orphanIds,
    leavesActivity,
    onConflict,
    isCluster,
  }: SavedBelongings,
  contextOf: (change: Change) => WorkspaceContext,
  clock: Clock,
): Promise<{ readonly carried: Carried; readonly forgotten: ForgottenSubscriptions }> {
  const merges = changes.flatMap((change) => (change.kind === "merge" ? [change] : []));
  const moves = movesOf(merges);
  const left = new Set(
    merges.flatMap(({ extent, merged }) =>
      extent === "tokens_and_messages" ? [merged.platformId] : [],
    ),
  );
  const joined = moves.filter(({ fromId }) => !left.has(fromId));
  const deleted = changes.flatMap((change) =>
    change.kind === "delete" ? [change.user.platformId] : [],
  );
  const changed = <Row extends object>(of: (belongings: Belongings) => readonly Row[]) =>
    changedRows(before, after, of);
  const gone = [...moves.map(({ fromId }) => fromId), ...deleted, ...orphanIds];
  const [, carried, forgotten] = await settleAll([
    moveActivity(
      tx,
      workspaceId,
      {
        moves: columnsOf(joined),
        messageMoves: columnsOf(moves),
        deletedIds: [...deleted, ...orphanIds],
        leftIds: leavesActivity ? left : new Set(),
        onConflict,
        empty: emptyParts(before, gone),
        large: new Set(gone.filter((id) => isLarge(before.get(id)))),
        isCluster,
      },
      {
        events: changed(({ events }) => events),
        purchases: changed(({ purchases }) => purchases),
        apps: changed(({ apps }) => apps),
        devices: changed(({ devices }) => devices),
        interactions: changed(({ interactions }) => interactions),
      },
    ),
    carrySubscriptionsOver(tx, workspaceId, madeBy(joined, merges, contextOf), clock),
    forgetSubscriptions(tx, workspaceId, {
      profileIds: [...left, ...deleted],
      emails: abandonedEmails,
    }),
  ]);
  return { carried, forgotten };
}

export interface SavedBelongings {
  readonly changes: readonly Change[];
  readonly before: BelongingsOf;
  readonly after: BelongingsOf;
  /** Addresses of removed users that no other user has. */
  readonly abandonedEmails: readonly string[];
  /** `GraphChanges.orphanIds`. */
  readonly orphanIds: readonly string[];
  /** Whether the events and purchases of a user whose data is left behind stay where they are, for an undo. */
  readonly leavesActivity: boolean;
  readonly onConflict: OnConflict | undefined;
  readonly isCluster: boolean;
}

/**
 * From each profile to the one that finally has its data: a user merged into a second, who is
 * merged into a third, moves once. The users merged into one are ordered by precedence: each before
 * those merged into it, otherwise in the order of the merges.
 */
function movesOf(merges: readonly Extract<Change, { kind: "merge" }>[]): Move[] {
  const mergedInto = groupBy(merges, ({ kept }) => kept.platformId);
  const gone = new Set(merges.map(({ merged }) => merged.platformId));
  const below = (id: string): string[] =>
    (mergedInto.get(id) ?? []).flatMap(({ merged: { platformId } }) => [
      platformId,
      ...below(platformId),
    ]);
  return [...mergedInto.keys()]
    .filter((id) => !gone.has(id))
    .flatMap((toId) => below(toId).map((fromId) => ({ fromId, toId })));
}

interface Move {
  readonly fromId: string;
  readonly toId: string;
}

/** Each move with the last call that merged someone into the user who is kept. */
function madeBy(
  moves: readonly Move[],
  merges: readonly Extract<Change, { kind: "merge" }>[],
  contextOf: (change: Change) => WorkspaceContext,
) {
  const last = new Map(merges.map((change) => [change.kept.platformId, change]));
  return moves.map((move) => ({
    ...move,
    context: contextOf(last.get(move.toId) as Change),
  }));
}

/**
 * Tables in which none of these users has a row; nothing has to be removed from them. Users that
 * were not read may have anything.
 */
function emptyParts(
  before: BelongingsOf,
  profileIds: readonly string[],
): ReadonlySet<ActivityPart> {
  const all = profileIds.map((id) => before.get(id));
  const parts = Object.entries(IS_EMPTY) as [ActivityPart, (of: Belongings) => boolean][];
  return new Set(
    parts.flatMap(([part, isEmpty]) =>
      all.every((each) => each !== undefined && isEmpty(each)) ? [part] : [],
    ),
  );
}

const IS_EMPTY: Readonly<Record<ActivityPart, (belongings: Belongings) => boolean>> = {
  custom_events: ({ events }) => events.length === 0,
  purchases: ({ purchases }) => purchases.length === 0,
  apps: ({ apps }) => apps.length === 0,
  devices: ({ devices }) => devices.length === 0,
  interactions: ({ interactions }) => interactions.length === 0,
  message_history: ({ messages }) => messages === 0,
};

/** Whether a user may have many events, purchases or messages; one who was not read may have any number. */
const isLarge = (belongings: Belongings | undefined): boolean =>
  !belongings ||
  sum([...belongings.events, ...belongings.purchases].map(({ count }) => count)) +
    belongings.messages >
    MANY_ROWS;

const columnsOf = (moves: readonly Move[]) => ({
  from: moves.map(({ fromId }) => fromId),
  to: moves.map(({ toId }) => toId),
});

/** New and changed rows; an entry that a merge does not touch is the same object as before. */
function changedRows<Row extends object>(
  before: BelongingsOf,
  after: BelongingsOf,
  of: (belongings: Belongings) => readonly Row[],
): (Row & { readonly profileId: string })[] {
  return [...after].flatMap(([profileId, belongings]) => {
    const known = new Set(of(before.get(profileId) ?? NO_BELONGINGS));
    const rows = of(belongings).filter((row) => !known.has(row));
    return rows.map((row) => ({ ...row, profileId }));
  });
}
