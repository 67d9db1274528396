import { type Json, withoutNulls } from "../../base/values/plain-json.ts";
import {
  type Alias,
  emailValue,
  type Identifier,
  identifierKey,
  type PersonIdentifier,
} from "./identifiers.ts";
import type { FoundIdentifier, NewProfile, ProfileRow } from "./store.ts";
import type { ProfileUpdate } from "./update-profiles-store.ts";

/**
 * One person in a batch of writes: what was read, and the changes so far. A person whose row was
 * not read can be changed too: a change is a patch, which the engine applies to the stored row.
 */
export interface Person {
  readonly id: string;
  readonly isNew: boolean;
  readonly stored: ProfileRow | undefined;
  readonly externalId: string | null | undefined;
  readonly aliases: readonly Alias[];
  /** Undefined if it is neither read nor changed. */
  email: string | null | undefined;
  phone: string | null | undefined;
  /** Changed members, if any; null removes. See `setAttribute`. */
  standardPatch: Patch | undefined;
  customPatch: Patch | undefined;
  /** The size of the custom attributes as compact JSON, once it was needed. */
  customBytes: number | undefined;
  /**
   * The place in the order of updates: the highest is the most recently updated. Microseconds since
   * the epoch for stored values, so that the order is the one that the next batch will read.
   */
  rank: number;
  /** The place among the touches of this batch; 0 before the first. */
  order: number;
  /** When the last touch counts as done; undefined if `changes` is to decide. */
  updatedAt: number | undefined;
}

/** Names and values of attributes; no name is `__proto__`, which the checks refuse. */
type Patch = Record<string, Json>;

export type AttributeKind = "standard" | "custom";

export type AddressKind = "email" | "phone";

/** The pending writes for the people of a batch. */
export interface PeopleChanges {
  readonly created: readonly NewProfile[];
  readonly updated: readonly ProfileUpdate[];
  readonly addedIdentifiers: readonly FoundIdentifier[];
  readonly removedIdentifiers: readonly FoundIdentifier[];
  /** Addresses without a user: a profile is created for each. */
  readonly addressesOfNew: readonly NewAddress[];
}

export interface NewAddress extends Identifier {
  /** The profiles that had the address when the batch was read. */
  readonly formerHolders: ReadonlySet<string>;
}

export interface People {
  /** Who an identifier means. spec: POST /users/track, rule 1, if several have the address. */
  find(identifier: PersonIdentifier): Person | undefined;
  create(identifier: PersonIdentifier): Person;
  /** Everyone who now has the address; `value` is its look-up form. */
  holdersOf(kind: AddressKind, value: string): readonly Person[];
  /** For a person who was not read, the address must be the profile's address. */
  setEmail(person: Person, address: string | null): void;
  setPhone(person: Person, number: string | null): void;
  /**
   * Marks this profile as most recently updated.
   *
   * @param at when the write counts as done, in microseconds since the epoch, no earlier than the
   * previous touch; by default the time that is given to `changes`.
   */
  touch(person: Person, at?: number): void;
  changes(now: Date): PeopleChanges;
}

/**
 * Holds the people of one batch in memory, so that its writes apply in order, each seeing the
 * effects of the earlier ones.
 *
 * @param found who has the identifiers that the batch names or sets.
 * @param rows the profiles that were read.
 * @param newId makes the id of a profile, which says the bucket of the identifier.
 * @param merged the profiles that the ids of merged ones now identify.
 * @param owners profiles by external_id, without its kind, because nearly every item has one;
 * `found` is added to it.
 * @param updateTimes of profiles that were not read, as far as their order matters.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the operations share the people and holders of one batch, which nothing else may touch.
export function createPeople(
  found: readonly FoundIdentifier[],
  rows: readonly ProfileRow[],
  newId: (firstIdentifier: string) => string,
  merged: ReadonlyMap<string, string> = new Map(),
  owners: Map<string, string> = new Map(),
  updateTimes: ReadonlyMap<string, number> = new Map(),
): People {
  const people = new Map<string, Person>();
  const holders = new Map<string, Set<string>>();
  const added = new Map<string, FoundIdentifier>();
  const removed = new Map<string, FoundIdentifier>();
  const addressesOfNew: NewAddress[] = [];
  let lastRank = 0;
  let lastOrder = 0;

  for (const row of rows) {
    people.set(row.id, personOf(row));
    lastRank = Math.max(lastRank, row.updatedAtMicros);
  }
  for (const identifier of found) hold(identifier);

  /** Built on demand: few batches create a profile for an address that was in use. */
  const formerHolders = ({ kind, value }: Identifier): ReadonlySet<string> =>
    new Set(
      found.flatMap((each) => (each.kind === kind && each.value === value ? [each.profileId] : [])),
    );

  function hold({ kind, value, profileId }: FoundIdentifier): void {
    if (kind === "external_id") {
      owners.set(value, profileId);
      return;
    }
    const key = identifierKey({ kind, value });
    const known = holders.get(key);
    if (known) known.add(profileId);
    else holders.set(key, new Set([profileId]));
  }

  function personWith(id: string, externalId?: string): Person {
    const known = people.get(id);
    if (known) return known;
    const unread = unreadPerson(id, externalId, updateTimes.get(id));
    people.set(id, unread);
    return unread;
  }

  function addIdentifier(identifier: FoundIdentifier): void {
    hold(identifier);
    const key = `${identifierKey(identifier)} ${identifier.profileId}`;
    if (!removed.delete(key)) added.set(key, identifier);
  }

  function removeIdentifier(identifier: FoundIdentifier): void {
    holders.get(identifierKey(identifier))?.delete(identifier.profileId);
    const key = `${identifierKey(identifier)} ${identifier.profileId}`;
    if (!added.delete(key)) removed.set(key, identifier);
  }

  const self: People = {
    find(identifier) {
      if (identifier.kind === "platform_id")
        return people.get(merged.get(identifier.value) ?? identifier.value);
      if (identifier.kind === "external_id") {
        const owner = owners.get(identifier.value);
        return owner === undefined ? undefined : personWith(owner, identifier.value);
      }
      const ids = holders.get(identifierKey(identifier));
      if (!ids?.size) return undefined;
      return [...ids].map((id) => personWith(id)).reduce(preferred);
    },

    create(identifier) {
      const person = newPerson(newId(identifier.value), identifier);
      people.set(person.id, person);
      if (identifier.kind === "email") self.setEmail(person, identifier.address);
      else if (identifier.kind === "phone") self.setPhone(person, identifier.value);
      else if (identifier.kind !== "platform_id") {
        addIdentifier({ kind: identifier.kind, value: identifier.value, profileId: person.id });
      }
      if (identifier.kind === "email" || identifier.kind === "phone") {
        const address = { kind: identifier.kind, value: identifier.value };
        addressesOfNew.push({ ...address, formerHolders: formerHolders(address) });
      }
      self.touch(person);
      return person;
    },

    holdersOf: (kind, value) =>
      [...(holders.get(identifierKey({ kind, value })) ?? [])].map((id) => personWith(id)),

    setEmail(person, address) {
      if (isUnread(person)) {
        person.email = address;
        return;
      }
      const before = person.email ? emailValue(person.email) : null;
      const after = address === null ? null : emailValue(address);
      person.email = address;
      moveAddress("email", person.id, before, after);
    },

    setPhone(person, number) {
      if (isUnread(person)) {
        person.phone = number;
        return;
      }
      const before = person.phone ?? null;
      person.phone = number;
      moveAddress("phone", person.id, before, number);
    },

    touch(person, at) {
      person.rank = at === undefined ? lastRank + 1 : Math.max(person.rank, at);
      person.order = ++lastOrder;
      person.updatedAt = at === undefined ? undefined : Math.max(at, person.updatedAt ?? 0);
      lastRank = Math.max(lastRank, person.rank);
    },

    changes(now) {
      const touched = [...people.values()].filter((person) => person.order > 0);
      const at = ({ updatedAt, order }: Person) => updatedAt ?? now.getTime() * 1_000 + order;
      return {
        created: touched.filter((each) => each.isNew).map((each) => newRow(each, at(each))),
        updated: touched.filter((each) => !each.isNew).map((each) => updateOf(each, at(each))),
        addedIdentifiers: [...added.values()],
        removedIdentifiers: [...removed.values()],
        addressesOfNew,
      };
    },
  };

  function moveAddress(
    kind: AddressKind,
    profileId: string,
    before: string | null,
    after: string | null,
  ): void {
    if (before === after) return;
    if (before !== null) removeIdentifier({ kind, value: before, profileId });
    if (after !== null) addIdentifier({ kind, value: after, profileId });
  }

  return self;
}

/** External ids come first, then the most recently updated, then the one created later. */
function preferred(one: Person, other: Person): Person {
  const identified = (person: Person) => (person.externalId ? 1 : 0);
  const order = identified(other) - identified(one) || other.rank - one.rank;
  return order > 0 || (order === 0 && other.id > one.id) ? other : one;
}

const personOf = (row: ProfileRow): Person => ({
  id: row.id,
  isNew: false,
  stored: row,
  externalId: row.externalId,
  aliases: row.aliases,
  email: row.email,
  phone: row.phone,
  standardPatch: undefined,
  customPatch: undefined,
  customBytes: undefined,
  rank: row.updatedAtMicros,
  order: 0,
  updatedAt: undefined,
});

const unreadPerson = (id: string, externalId: string | undefined, rank = 0): Person => ({
  id,
  isNew: false,
  stored: undefined,
  externalId,
  aliases: [],
  email: undefined,
  phone: undefined,
  standardPatch: undefined,
  customPatch: undefined,
  customBytes: undefined,
  rank,
  order: 0,
  updatedAt: undefined,
});

const newPerson = (id: string, identifier: PersonIdentifier): Person => ({
  id,
  isNew: true,
  stored: undefined,
  externalId: identifier.kind === "external_id" ? identifier.value : null,
  aliases: identifier.kind === "alias" ? [identifier.alias] : [],
  email: null,
  phone: null,
  standardPatch: undefined,
  customPatch: undefined,
  customBytes: undefined,
  rank: 0,
  order: 0,
  updatedAt: undefined,
});

const newRow = (person: Person, updatedAtMicros: number): NewProfile => ({
  id: person.id,
  externalId: person.externalId ?? null,
  aliases: person.aliases,
  email: person.email ?? null,
  phone: person.phone ?? null,
  standardAttributes: withoutNulls(person.standardPatch ?? {}),
  customAttributes: withoutNulls(person.customPatch ?? {}),
  updatedAtMicros,
});

/** Whether only the id is known, because no change of the batch needs the row. */
const isUnread = ({ isNew, stored }: Person): boolean => !isNew && stored === undefined;

/** All objects have one shape and no affectsSharers are used: this runs for every user of a batch. */
const updateOf = (person: Person, updatedAtMicros: number): ProfileUpdate =>
  person.stored
    ? {
        id: person.id,
        externalId: person.stored.externalId,
        before: person.stored,
        version: person.stored.version,
        standardPatch: person.standardPatch ?? null,
        customPatch: person.customPatch ?? null,
        email: person.email === person.stored.email ? undefined : person.email,
        phone: person.phone === person.stored.phone ? undefined : person.phone,
        assumedEmail: undefined,
        assumedPhone: undefined,
        updatedAtMicros,
      }
    : {
        id: person.id,
        externalId: person.externalId ?? null,
        before: undefined,
        version: null,
        standardPatch: person.standardPatch ?? null,
        customPatch: person.customPatch ?? null,
        email: undefined,
        phone: undefined,
        assumedEmail: person.email,
        assumedPhone: person.phone,
        updatedAtMicros,
      };

/** The present value of an attribute, or undefined. */
export function attributeOf(person: Person, kind: AttributeKind, name: string): Json | undefined {
  const patch = kind === "standard" ? person.standardPatch : person.customPatch;
  if (patch && Object.hasOwn(patch, name)) return patch[name] ?? undefined;
  const stored =
    kind === "standard" ? person.stored?.standardAttributes : person.stored?.customAttributes;
  return stored && Object.hasOwn(stored, name) ? stored[name] : undefined;
}

/** Changes an attribute; null removes it. */
export function setAttribute(person: Person, kind: AttributeKind, name: string, value: Json): void {
  if (kind === "standard") person.standardPatch = withMember(person.standardPatch, name, value);
  else person.customPatch = withMember(person.customPatch, name, value);
}

function withMember(patch: Patch = {}, name: string, value: Json): Patch {
  patch[name] = value;
  return patch;
}
