import { isDeepStrictEqual } from "node:util";
import { centsOf } from "../../core/base/values/decimals.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import type {
  AppUsage,
  Device,
  EventSummary,
  Interaction,
  PurchaseSummary,
} from "../../core/people/activity/activity.ts";
import type { Dates } from "../../core/people/activity/returns-store.ts";
import { FIELD_OF, interactionKey } from "../../core/people/identity/combine/app-activity.ts";
import type { Effect } from "../../core/people/identity/combine/effects.ts";
import type { Belongings } from "../../core/people/identity/combine/whole.ts";
import type { MergeRecord } from "../../core/people/identity/merge-record.ts";
import { aliasValue } from "../../core/people/profiles/identifiers.ts";
import type { Attributes, ProfileFields } from "../../core/people/profiles/store.ts";
import type { Chain } from "./chain.ts";
import { eventKey, purchaseKey, remaining } from "./summaries.ts";

/*
 * How one user becomes two again. The rule: the merged user comes back as they were; the kept user loses exactly what came
 * from them; whatever happened after the merge stays with the kept user.
 *
 * It is a pure function of the record of the merge, those of later merges into the same user, and what the kept user has now.
 */

/** What happens to a value: it goes back, it stays because it is another one now, it was never taken, or it is subtracted. */
type UndoEffectKind = "returned" | "stays" | "restored" | "subtracted";

/** What the kept user has now, what the returning user has, and what the kept user has afterwards. */
export interface UndoEffect extends Omit<Effect, "effect"> {
  readonly effect: UndoEffectKind;
}

export interface Present {
  readonly fields: ProfileFields;
  readonly updatedAtMicros: number;
  readonly belongings: Belongings;
  /** Groups whose newest entry of the history came with the merge. */
  readonly untouchedGroups: ReadonlySet<string>;
  /** The dates of the events that remain, by `eventKey`; of purchases by `purchaseKey`. */
  readonly eventDates: ReadonlyMap<string, Dates>;
  readonly purchaseDates: ReadonlyMap<string, Dates>;
}

/** Rows of the kept user to write, and keys of rows to delete. */
export interface Rows<Row> {
  readonly set: readonly Row[];
  readonly gone: readonly Row[];
}

export interface Separation {
  readonly fields: ProfileFields;
  readonly updatedAtMicros: number;
  readonly events: Rows<EventSummary>;
  readonly purchases: Rows<PurchaseSummary>;
  readonly apps: Rows<AppUsage>;
  readonly devices: Rows<Device>;
  readonly interactions: Rows<Interaction>;
  /** Groups that the kept user has no state in any more. */
  readonly leftGroups: readonly string[];
  readonly effects: readonly UndoEffect[];
}

export function separate(record: MergeRecord, chain: Chain, now: Present): Separation {
  const effects: UndoEffect[] = [];
  const fields = separateFields(record, chain, now.fields, effects);
  const { belongings } = now;
  const { merged, kept } = record;
  const isPartial = record.extent === "tokens_and_messages";
  const events = subtractAll(belongings.events, chain.summaries.events, now.eventDates, eventKey);
  describeAll(effects, "custom_events", merged.events, belongings.events, events, {
    keyOf: eventKey,
    nameOf: ({ name }) => name,
    show: ({ count, firstAt, lastAt }) => ({ count, first: iso(firstAt), last: iso(lastAt) }),
    effect: isPartial ? "restored" : "subtracted",
  });
  const purchases = subtractAll(
    belongings.purchases,
    chain.summaries.purchases,
    now.purchaseDates,
    purchaseKey,
  );
  describeAll(effects, "purchases", merged.purchases, belongings.purchases, purchases, {
    keyOf: purchaseKey,
    nameOf: ({ productId, currency }) => `${productId} (${currency})`,
    show: ({ count, firstAt, lastAt, revenue }) => ({
      count,
      first: iso(firstAt),
      last: iso(lastAt),
      amount_cents: centsOf(revenue),
    }),
    effect: isPartial ? "restored" : "subtracted",
  });
  const apps = changeAll(belongings.apps, chain.app);
  describeAll(effects, "apps", merged.apps, belongings.apps, apps, {
    keyOf: ({ appId }) => appId,
    nameOf: ({ appId }) => appId,
    show: ({ version, sessions, firstUsedAt, lastUsedAt }) => ({
      version,
      sessions,
      first_used: iso(firstUsedAt),
      last_used: iso(lastUsedAt),
    }),
    effect: isPartial ? "restored" : "subtracted",
  });
  const devices = changeAll(belongings.devices, (device) => {
    const own = merged.devices.find(({ deviceId }) => deviceId === device.deviceId);
    const isTaken = kept.devices.includes(device.deviceId);
    if (!own || !isTaken || chain.isRetaken(`device ${device.deviceId}`)) return device;
    return isDeepStrictEqual(own.details, device.details) ? undefined : device;
  });
  describeAll(effects, "devices", merged.devices, belongings.devices, devices, {
    keyOf: ({ deviceId }) => deviceId,
    nameOf: ({ deviceId }) => deviceId,
    show: ({ details }) => details,
    effect: kept.devices.length > 0 ? "returned" : "restored",
  });
  const interactions = changeAll(belongings.interactions, chain.interaction);
  for (const kind of ["campaign", "canvas", "card"] as const) {
    const some = merged.interactions.filter((each) => each.kind === kind);
    describeAll(effects, FIELD_OF[kind], some, belongings.interactions, interactions, {
      keyOf: interactionKey,
      nameOf: ({ id }) => id,
      show: ({ details }) => details,
      effect: isPartial ? "restored" : "returned",
    });
  }
  const leftGroups = separateGroups(record, chain, now, effects);
  if (merged.messages > 0) describeMessages(effects, merged.messages, belongings.messages);
  return {
    fields,
    updatedAtMicros: chain.updatedAt(now.updatedAtMicros),
    events,
    purchases,
    apps,
    devices,
    interactions,
    leftGroups,
    effects,
  };
}

/** How many of them the kept user had too is in no record, so the result is not known before. */
const describeMessages = (effects: UndoEffect[], merged: number, kept: number): void => {
  effects.push({ field: "message_history", effect: "subtracted", kept, merged, result: null });
};

const iso = (time: Date | string): string => new Date(time).toISOString();

function separateFields(
  { merged, kept }: MergeRecord,
  chain: Chain,
  now: ProfileFields,
  effects: UndoEffect[],
): ProfileFields {
  const names = ["externalId", "email", "phone"] as const;
  const single = names.map((name) => {
    const theirs = merged.fields[name];
    const isTaken = kept.taken.includes(name) && theirs !== null && !chain.isRetaken(name);
    const goesBack = isTaken && now[name] === theirs;
    const result = goesBack ? null : now[name];
    if (theirs !== null) {
      const field = name === "externalId" ? "external_id" : name;
      const effect = goesBack ? "returned" : isTaken ? "stays" : "restored";
      effects.push({ field, effect, kept: now[name], merged: theirs, result });
    }
    return result;
  });
  const [externalId = null, email = null, phone = null] = single;
  const theirs = new Set(merged.fields.aliases.map(aliasValue));
  const aliases = now.aliases.filter((alias) => !theirs.has(aliasValue(alias)));
  if (theirs.size > 0) {
    const json = (list: ProfileFields["aliases"]) => list.map((alias) => ({ ...alias }));
    effects.push({
      field: "user_aliases",
      effect: "returned",
      kept: json(now.aliases),
      merged: json(merged.fields.aliases),
      result: json(aliases),
    });
  }
  const standardAttributes = changeAttributes(
    now.standardAttributes,
    [...Object.keys(kept.standard), ...Object.keys(merged.fields.standardAttributes)],
    (name, value) => {
      // A state that waits for an address: with one, it is the address's.
      if (name === "email_subscribe" && email !== null) return value;
      return chain.standard(name, value);
    },
  );
  const customAttributes = changeAttributes(now.customAttributes, kept.custom, (name, value) => {
    const isSame = isDeepStrictEqual(value, valueIn(merged.fields.customAttributes, name));
    return isSame && !chain.isRetaken(`custom ${name}`) ? null : value;
  });
  describeAttributes(effects, undefined, {
    theirs: merged.fields.standardAttributes,
    now: now.standardAttributes,
    after: standardAttributes,
    taken: new Set(Object.keys(kept.standard)),
  });
  describeAttributes(effects, "custom_attributes", {
    theirs: merged.fields.customAttributes,
    now: now.customAttributes,
    after: customAttributes,
    taken: new Set(kept.custom),
  });
  return { externalId, email, phone, aliases, standardAttributes, customAttributes };
}

function changeAttributes(
  now: Attributes,
  names: readonly string[],
  change: (name: string, value: Json) => Json,
): Attributes {
  const after = new Map(Object.entries(now));
  for (const name of new Set(names)) {
    const value = change(name, after.get(name) ?? null);
    if (value === null) after.delete(name);
    else after.set(name, value);
  }
  return Object.fromEntries(after);
}

function describeAttributes(
  effects: UndoEffect[],
  field: string | undefined,
  {
    theirs,
    now,
    after,
    taken,
  }: {
    readonly theirs: Attributes;
    readonly now: Attributes;
    readonly after: Attributes;
    readonly taken: ReadonlySet<string>;
  },
): void {
  for (const name of Object.keys(theirs).sort()) {
    const [has, result] = [valueIn(now, name), valueIn(after, name)];
    const goesBack = !isDeepStrictEqual(has, result);
    const effect = goesBack ? "returned" : taken.has(name) ? "stays" : "restored";
    const values = { effect, kept: has, merged: theirs[name] ?? null, result } as const;
    effects.push(field === undefined ? { field: name, ...values } : { field, name, ...values });
  }
}

/** An attribute can be called as a member of every object is, such as `constructor`. */
const valueIn = (attributes: Attributes, name: string): Json =>
  Object.hasOwn(attributes, name) ? (attributes[name] ?? null) : null;

function separateGroups(
  { merged, kept }: MergeRecord,
  chain: Chain,
  { belongings, untouchedGroups }: Present,
  effects: UndoEffect[],
): string[] {
  const now = new Map(belongings.groupStates.map(({ groupId, state }) => [groupId, state]));
  return merged.groups.flatMap(({ groupId, state }) => {
    const has = now.get(groupId) ?? null;
    const isTaken = kept.groups.includes(groupId) && !chain.isRetaken(`group ${groupId}`);
    const goesBack = isTaken && has === state && untouchedGroups.has(groupId);
    effects.push({
      field: "subscription_groups",
      name: groupId,
      effect: goesBack ? "returned" : isTaken ? "stays" : "restored",
      kept: has,
      merged: state,
      result: goesBack ? null : has,
    });
    return goesBack ? [groupId] : [];
  });
}

function subtractAll<Own extends EventSummary | PurchaseSummary>(
  own: readonly Own[],
  followed: ReadonlyMap<string, Parameters<typeof remaining>[1]>,
  dates: ReadonlyMap<string, Dates>,
  keyOf: (row: Own) => string,
): Rows<Own> {
  return changeAll(own, (row) => {
    const each = followed.get(keyOf(row));
    return each ? remaining(row, each, dates.get(keyOf(row))) : row;
  });
}

/** @param change returns the same row if nothing changes, and undefined for one that goes. */
function changeAll<Row>(rows: readonly Row[], change: (row: Row) => Row | undefined): Rows<Row> {
  const set: Row[] = [];
  const gone: Row[] = [];
  for (const row of rows) {
    const after = change(row);
    if (after === undefined) gone.push(row);
    else if (after !== row) set.push(after);
  }
  return { set, gone };
}

interface Described<Own, Theirs> {
  keyOf(row: Own | Theirs): string;
  nameOf(row: Theirs): string;
  show(row: Own | Theirs): Json;
  readonly effect: UndoEffectKind;
}

function describeAll<Own, Theirs>(
  effects: UndoEffect[],
  field: string,
  theirs: readonly Theirs[],
  own: readonly Own[],
  { set, gone }: Rows<Own>,
  { keyOf, nameOf, show, effect }: Described<Own, Theirs>,
): void {
  const now = new Map(own.map((row) => [keyOf(row), row]));
  const after = new Map([...now, ...set.map((row) => [keyOf(row), row] as const)]);
  for (const row of gone) after.delete(keyOf(row));
  for (const row of theirs) {
    const [has, result] = [now.get(keyOf(row)), after.get(keyOf(row))];
    const isSame = has === result;
    effects.push({
      field,
      name: nameOf(row),
      effect: effect !== "restored" && isSame ? (has ? "stays" : "restored") : effect,
      kept: has ? show(has) : null,
      merged: show(row),
      result: result ? show(result) : null,
    });
  }
}
