import type { Queryable, Transaction } from "../database/database.ts";
import {
  moveEngagement,
  readEngagement,
  readMessageCounts,
  removeEngagement,
  writeEngagement,
} from "../engagement/engagement.ts";
import { combine, combineBelongings } from "../profiles/combine/combine.ts";
import type { Effect } from "../profiles/combine/effects.ts";
import { type Belongings, NO_BELONGINGS, NOBODY } from "../profiles/combine/whole.ts";
import { moveGroupStates, readGroupStates, removeGroupStates } from "../subscriptions/states.ts";
import { moveHistories, removeHistories } from "../track/histories.ts";
import { readSummaries } from "../track/summaries.ts";
import type { Change } from "./cast.ts";

/* What belongs to users outside their rows: read for all of them, joined in memory, written once. */

type BelongingsOf = ReadonlyMap<string, Belongings>;

/** A change with its effects on everything that belongs to the user. */
export interface Told {
  readonly change: Change;
  readonly effects: readonly Effect[];
}

/** What the changes make of everybody's belongings. */
export interface Outcome {
  readonly told: readonly Told[];
  /** By the id of the profile that has them in the end. */
  readonly after: BelongingsOf;
}

/** Everything that belongs to these profiles. */
export async function readBelongings(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<BelongingsOf> {
  if (profileIds.length === 0) return new Map();
  const [{ events, purchases }, groupStates, { apps, devices, interactions }, messages] =
    await Promise.all([
      readSummaries(database, workspaceId, profileIds),
      readGroupStates(database, workspaceId, profileIds),
      readEngagement(database, workspaceId, profileIds),
      readMessageCounts(database, workspaceId, profileIds),
    ]);
  const of = <Row extends { readonly profileId: string }>(rows: readonly Row[]) => {
    const groups = new Map<string, Row[]>(profileIds.map((id) => [id, []]));
    for (const row of rows) groups.get(row.profileId)?.push(row);
    return (id: string): readonly Row[] => groups.get(id) ?? [];
  };
  const [eventsOf, purchasesOf, statesOf] = [of(events), of(purchases), of(groupStates)];
  const [appsOf, devicesOf, interactionsOf] = [of(apps), of(devices), of(interactions)];
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

/** Carries the changes out on the belongings, in their order, in memory. */
export function joinBelongings(changes: readonly Change[], before: BelongingsOf): Outcome {
  const after = new Map(before);
  const of = (id: string) => after.get(id) ?? NO_BELONGINGS;
  const told = changes.map((change): Told => {
    if (change.kind === "identify") return { change, effects: change.effects };
    if (change.kind === "delete") {
      const whole = { profile: change.fields, belongings: of(change.user.platformId) };
      after.delete(change.user.platformId);
      return { change, effects: combine(NOBODY, whole, "all", false).effects.map(removed) };
    }
    const [keptId, mergedId] = [change.kept.platformId, change.merged.platformId];
    const { value, effects } = combineBelongings(of(keptId), of(mergedId), change.extent);
    after.set(keptId, value);
    after.delete(mergedId);
    return { change, effects: [...change.effects, ...effects] };
  });
  return { told, after };
}

const removed = (effect: Effect): Effect => ({ ...effect, effect: "removed", result: null });

/** Writes what became of the belongings. All profiles must be locked by the transaction. */
export async function saveBelongings(
  tx: Transaction,
  workspaceId: number,
  changes: readonly Change[],
  before: BelongingsOf,
  after: BelongingsOf,
): Promise<void> {
  const whole = movesOf(changes, (extent) => extent !== "tokens_and_messages");
  const partial = movesOf(changes, (extent) => extent === "tokens_and_messages");
  const all = { from: [...whole.from, ...partial.from], to: [...whole.to, ...partial.to] };
  const deleted = changes.flatMap((change) =>
    change.kind === "delete" ? [change.user.platformId] : [],
  );
  const changed = changedBelongings(before, after);
  const copiedStates = changed.groupStates.map(({ profileId, row }) => ({
    from: row.profileId,
    to: profileId,
    groupId: row.groupId,
  }));
  const rows = <Row>(of: readonly { readonly profileId: string; readonly row: Row }[]) =>
    of.map(({ profileId, row }) => ({ ...row, profileId }));
  await Promise.all([
    moveHistories(tx, workspaceId, whole, {
      events: rows(changed.events),
      purchases: rows(changed.purchases),
    }),
    removeHistories(tx, workspaceId, [...partial.from, ...deleted]),
    moveGroupStates(tx, workspaceId, copiedStates),
    removeGroupStates(tx, workspaceId, [...all.from, ...deleted]),
    moveEngagement(tx, workspaceId, all),
    writeEngagement(tx, workspaceId, {
      apps: rows(changed.apps),
      devices: rows(changed.devices),
      interactions: rows(changed.interactions),
    }),
    removeEngagement(tx, workspaceId, deleted),
  ]);
}

/** Who was merged, and into whom in the end: somebody merged into two after another moves once. */
function movesOf(
  changes: readonly Change[],
  isMoved: (extent: Extract<Change, { kind: "merge" }>["extent"]) => boolean,
): { readonly from: string[]; readonly to: string[] } {
  const merges = changes.flatMap((change) => (change.kind === "merge" ? [change] : []));
  const keptBy = new Map(merges.map((each) => [each.merged.platformId, each.kept.platformId]));
  const last = (id: string): string => {
    const next = keptBy.get(id);
    return next === undefined ? id : last(next);
  };
  const from = merges.filter((each) => isMoved(each.extent)).map((each) => each.merged.platformId);
  return { from, to: from.map(last) };
}

type ListName = Exclude<keyof Belongings, "messages">;

type Changed = {
  readonly [List in ListName]: {
    readonly profileId: string;
    readonly row: Belongings[List][number];
  }[];
};

/** What is new or other than it was; an entry that a merge does not touch stays the same object. */
function changedBelongings(before: BelongingsOf, after: BelongingsOf): Changed {
  const changed = <List extends ListName>(list: List): Changed[List] =>
    [...after].flatMap(([profileId, belongings]) => {
      const known = new Set<unknown>(before.get(profileId)?.[list] ?? []);
      const rows: readonly Belongings[List][number][] = belongings[list];
      return rows.filter((row) => !known.has(row)).map((row) => ({ profileId, row }));
    });
  return {
    events: changed("events"),
    purchases: changed("purchases"),
    groupStates: changed("groupStates"),
    apps: changed("apps"),
    devices: changed("devices"),
    interactions: changed("interactions"),
  };
}
