import { isDeepStrictEqual } from "node:util";
import { groupBy } from "../../base/values/group-by.ts";
import type { Json } from "../../base/values/plain-json.ts";
import type {
  AppUsage,
  Device,
  EventSummary,
  Interaction,
  PurchaseSummary,
} from "../activity/activity.ts";
import { emailValue } from "../profiles/identifiers.ts";
import type { Attributes, ProfileFields, RemovedProfile } from "../profiles/store.ts";
import type { EmailStateChange, GroupStateChange } from "../subscriptions/history-store.ts";
import type { JoinedSpelling, StoredState } from "../subscriptions/spellings-store.ts";
import type { DatedGroupState } from "../subscriptions/store.ts";
import { interactionKey } from "./combine/app-activity.ts";
import type { Extent } from "./combine/effects.ts";
import { type Belongings, EMPTY } from "./combine/whole.ts";
import type { MergedSides, PersonBefore, Redirect } from "./identity-graph.ts";

/*
 * What an undo needs about a merge (docs/decisions/undo.md): the merged user as they were, and what the kept user had in the
 * place of what was taken. Events, purchases, messages and the history of groups are not in it: their rows say with whom
 * they came. As JSON, so times are texts.
 */

export interface MergeRecord {
  readonly extent: Extent;
  readonly merged: RecordedUser;
  readonly kept: KeptBefore;
}

export interface RecordedUser {
  readonly id: string;
  readonly version: number;
  readonly createdAtMicros: number;
  readonly updatedAtMicros: number;
  readonly fields: ProfileFields;
  readonly redirects: readonly Redirect[];
  readonly events: readonly InJson<EventSummary>[];
  readonly purchases: readonly InJson<PurchaseSummary>[];
  readonly apps: readonly InJson<AppUsage>[];
  readonly devices: readonly Device[];
  readonly interactions: readonly Interaction[];
  readonly groups: readonly InJson<Omit<DatedGroupState, "profileId">>[];
  /** Only of a user whose data was left behind: otherwise it moves. */
  readonly groupHistory: readonly InJson<GroupStateChange>[];
  /** Of the address, if nobody has it after the merge. */
  readonly emailHistory: readonly InJson<EmailStateChange>[];
  readonly joined: readonly JoinedSpelling[];
  /** How many messages: those that the kept user has too are in further pieces of the record. */
  readonly messages: number;
}

/** What the kept user had before the merge, where the merge has changed something. */
export interface KeptBefore {
  readonly id: string;
  readonly externalId: string | null;
  /** When the user was updated last: before the merge, and by it. In microseconds. */
  readonly updated: readonly [before: number, after: number];
  readonly taken: readonly ("externalId" | "email" | "phone")[];
  /** The names of custom attributes that were taken. */
  readonly custom: readonly string[];
  /** Standard attributes before and after; null if there was none. */
  readonly standard: Readonly<Record<string, readonly [before: Json, after: Json]>>;
  /** Those that were taken. */
  readonly devices: readonly string[];
  readonly groups: readonly string[];
  /** The entries that the merge added to the history of groups. */
  readonly groupEntries: readonly { readonly id: string; readonly groupId: string }[];
  /** Those that the merged user has too. */
  readonly events: readonly Undated<EventSummary>[];
  readonly purchases: readonly Undated<PurchaseSummary>[];
  readonly apps: readonly InJson<AppUsage>[];
  readonly interactions: readonly Interaction[];
  /** The address whose state the merge has changed, because a state waited for it. */
  readonly emailState: RecordedEmailState | null;
}

export interface RecordedEmailState {
  readonly email: string;
  readonly before: StoredState | null;
  readonly after: StoredState;
  /** The entries that the merge added to the history of the address. */
  readonly entries: readonly string[];
}

/** A summary whose dates may be unknown, because they were those of a user who has returned since. */
export type Undated<Summary> = Omit<InJson<Summary>, "firstAt" | "lastAt"> & {
  readonly firstAt: string | null;
  readonly lastAt: string | null;
};

/** As it is read from JSON. */
export type InJson<Value> = {
  readonly [Name in keyof Value]: Value[Name] extends Date ? string : Value[Name];
};

/** What is known of a merge before its transaction. */
export interface RecordedMerge {
  readonly extent: Extent;
  readonly sides: MergedSides;
  readonly belongings: { readonly kept: Belongings; readonly merged: Belongings };
}

/** What its transaction finds out while it writes. */
export interface FoundByMerge {
  readonly removed: ReadonlyMap<string, RemovedProfile>;
  /** Of all users of the request. */
  readonly groupStates: readonly DatedGroupState[];
  readonly groupEntries: readonly GroupStateChange[];
  readonly groupHistory: readonly GroupStateChange[];
  readonly emailHistory: readonly EmailStateChange[];
  readonly joined: readonly JoinedSpelling[];
  /** By address. The last merge of the request that linked an address has its change. */
  readonly emailStates: readonly RecordedEmailState[];
}

/** The same by user and by address: a request has hundreds of merges, and each looks for its own. */
export const indexFound = (found: FoundByMerge) => {
  const byUser = <Row extends { readonly profileId: string }>(rows: readonly Row[]) =>
    finder(rows, ({ profileId }) => profileId);
  const byEmail = <Row extends { readonly email: string }>(rows: readonly Row[]) =>
    finder(rows, ({ email }) => email);
  return {
    removed: found.removed,
    groupStates: byUser(found.groupStates),
    groupEntries: byUser(found.groupEntries),
    groupHistory: byUser(found.groupHistory),
    emailHistory: byEmail(found.emailHistory),
    joined: byEmail(found.joined),
    emailStates: byEmail(found.emailStates),
  };
};

/** Finds the rows of a key. */
function finder<Row>(rows: readonly Row[], keyOf: (row: Row) => string) {
  const groups = groupBy(rows, keyOf);
  return (key: string | null | undefined): readonly Row[] => groups.get(key ?? "") ?? [];
}

/**
 * The record of a merge. Empty members are left out.
 *
 * @param how.ownsEmail whether no later merge of the request linked the same address.
 */
export function recordOf(
  merge: RecordedMerge,
  found: ReturnType<typeof indexFound>,
  { now, ownsEmail }: { readonly now: Date; readonly ownsEmail: boolean },
): object {
  const { extent, sides, belongings } = merge;
  const { kept, merged, after } = sides;
  const { id, fields } = merged;
  const isPartial = extent === "tokens_and_messages";
  const email = fields.email === null ? null : emailValue(fields.email);
  const groups = groupsOf(merge, found, now);
  const createdAtMicros = found.removed.get(id)?.createdAtMicros ?? now.getTime() * 1_000;
  const takesDevices = extent === "all" && belongings.kept.devices.length === 0;
  const taken = TAKEN.filter((name) => kept.fields[name] === null && after[name] !== null);
  return {
    extent,
    merged: filled({
      id,
      version: merged.stored?.version ?? 1,
      createdAtMicros,
      updatedAtMicros: updatedAt(merged, now),
      fields: filled({
        externalId: fields.externalId,
        aliases: fields.aliases,
        email: fields.email,
        phone: fields.phone,
        standardAttributes: fields.standardAttributes,
        customAttributes: fields.customAttributes,
      }),
      redirects: merged.redirects,
      events: bare(belongings.merged.events),
      purchases: bare(belongings.merged.purchases),
      apps: bare(belongings.merged.apps),
      devices: bare(belongings.merged.devices),
      interactions: bare(belongings.merged.interactions),
      groups: groups.merged,
      groupHistory: isPartial ? found.groupHistory(id) : [],
      emailHistory: found.emailHistory(email),
      joined: found.joined(email),
      messages: belongings.merged.messages,
    }),
    kept: filled({
      id: kept.id,
      externalId: kept.fields.externalId,
      updated: [
        updatedAt(kept, now),
        updatedAt({ stored: kept.stored, rank: sides.rankAfter, isTouched: true }, now),
      ],
      taken,
      custom: Object.keys(changedIn(kept.fields.customAttributes, after.customAttributes)),
      standard: changedIn(kept.fields.standardAttributes, after.standardAttributes),
      devices: takesDevices ? belongings.merged.devices.map(({ deviceId }) => deviceId) : [],
      groups: isPartial ? [] : groups.received,
      groupEntries: isPartial ? [] : groups.entries,
      emailState: (ownsEmail && found.emailStates(sides.linkedEmail)[0]) || null,
      events: both(belongings, ({ events }) => events, eventKey),
      purchases: both(belongings, ({ purchases }) => purchases, purchaseKey),
      apps: both(belongings, ({ apps }) => apps, appKey),
      interactions: both(belongings, ({ interactions }) => interactions, interactionKey),
    }),
  };
}

const TAKEN = ["externalId", "email", "phone"] as const;

const eventKey = ({ name }: EventSummary): string => name;
const purchaseKey = ({ productId, currency }: PurchaseSummary): string =>
  `${currency} ${productId}`;
const appKey = ({ appId }: AppUsage): string => appId;

/** The group states of the merged user, those that the kept user received, and the entries that this added. */
function groupsOf(
  { sides: { kept, merged }, belongings }: RecordedMerge,
  found: ReturnType<typeof indexFound>,
  now: Date,
) {
  const states = belongings.merged.groupStates;
  if (states.length === 0) return NO_GROUPS;
  const times = new Map(
    found.groupStates(merged.id).map(({ groupId, changedAt }) => [groupId, changedAt]),
  );
  const keptGroups = new Set(belongings.kept.groupStates.map(({ groupId }) => groupId));
  const groupIds = new Set(states.map(({ groupId }) => groupId));
  return {
    merged: states.map(({ groupId, state }) => {
      // A state that the user received in this request has no row of its own.
      return { groupId, state, changedAt: (times.get(groupId) ?? now).getTime() };
    }),
    received: [...groupIds].filter((groupId) => !keptGroups.has(groupId)),
    entries: found
      .groupEntries(kept.id)
      .filter(({ groupId }) => groupIds.has(groupId))
      .map(({ id, groupId }) => ({ id, groupId })),
  };
}

const NO_GROUPS = { merged: [], received: [], entries: [] };

const NO_FIELDS: ProfileFields = EMPTY.profile;

const NOTHING_MERGED = {
  redirects: [],
  events: [],
  purchases: [],
  apps: [],
  devices: [],
  interactions: [],
  groups: [],
  groupHistory: [],
  emailHistory: [],
  joined: [],
  messages: 0,
} satisfies Partial<RecordedUser>;

const NOTHING_KEPT = {
  externalId: null,
  taken: [],
  custom: [],
  standard: {},
  devices: [],
  groups: [],
  groupEntries: [],
  events: [],
  purchases: [],
  apps: [],
  interactions: [],
  emailState: null,
} satisfies Partial<KeptBefore>;

/** A record with its empty members. @param late what earlier versions found out late: states of groups, and what became of addresses. */
export function readRecord(body: string, late: string | undefined): MergeRecord {
  const { extent, merged, kept } = JSON.parse(body) as MergeRecord;
  const more = late === undefined ? {} : (JSON.parse(late) as Partial<MergeRecord>);
  const user = withTexts({
    ...NOTHING_MERGED,
    ...merged,
    ...more.merged,
    fields: { ...NO_FIELDS, ...merged.fields },
  });
  return {
    extent,
    merged: { ...user, groups: user.groups.map(textsOf) },
    kept: withTexts({ ...NOTHING_KEPT, ...kept, ...more.kept }),
  };
}

/** Times of rows as texts: `recordOf` writes numbers. */
const withTexts = <Side extends Pick<KeptBefore, "events" | "purchases" | "apps">>(
  side: Side,
): Side => ({
  ...side,
  events: side.events.map(textsOf),
  purchases: side.purchases.map(textsOf),
  apps: side.apps.map(textsOf),
});

const TIMES = ["firstAt", "lastAt", "firstUsedAt", "lastUsedAt", "changedAt"];

function textsOf<Row extends object>(row: Row): Row {
  const texts: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name] as unknown;
    const isTime = typeof value === "number" && TIMES.includes(name);
    texts[name] = isTime ? new Date(value).toISOString() : value;
  }
  return texts as Row;
}

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false;
  return true;
};

/** Without null, empty lists and empty objects. */
function filled(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const some: Record<string, unknown> = {};
  for (const name in members) {
    const value = members[name];
    if (value === null || value === 0 || (typeof value === "object" && isEmpty(value as object))) {
      continue;
    }
    some[name] = value;
  }
  return some;
}

/** In microseconds, as the transaction writes it. */
const updatedAt = (
  { stored, rank, isTouched }: Pick<PersonBefore, "stored" | "rank" | "isTouched">,
  now: Date,
): number => {
  const before = stored?.updatedAtMicros ?? 0;
  return isTouched ? Math.max(before, now.getTime() * 1_000 + rank) : before;
};

/** Without the profile, which the record says. Times are numbers: as texts they took a third of the time of a record. */
const bare = <Row extends object>(rows: readonly Row[]): readonly object[] =>
  rows.map((row) => {
    const some: Record<string, unknown> = {};
    for (const name in row) {
      const value = row[name];
      if (name !== "profileId") some[name] = value instanceof Date ? value.getTime() : value;
    }
    return some;
  });

function changedIn(before: Attributes, after: Attributes): Record<string, [Json, Json]> {
  const changed: Record<string, [Json, Json]> = {};
  if (before === after) return changed;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[name] ?? null, after[name] ?? null];
    if (one !== other && !isDeepStrictEqual(one, other)) changed[name] = [one, other];
  }
  return changed;
}

/** The kept user's rows of what both have. */
function both<Row extends object>(
  { kept, merged }: RecordedMerge["belongings"],
  of: (belongings: Belongings) => readonly Row[],
  keyOf: (row: Row) => string,
): readonly object[] {
  if (of(kept).length === 0 || of(merged).length === 0) return [];
  const keys = new Set(of(merged).map(keyOf));
  return bare(of(kept).filter((row) => keys.has(keyOf(row))));
}
