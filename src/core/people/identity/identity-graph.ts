import { spellingOf } from "../../base/values/address-form.ts";
import { groupBy } from "../../base/values/group-by.ts";
import {
  type Alias,
  aliasValue,
  emailValue,
  type Identifier,
  identifierKey,
  identifiersOf,
  type PersonIdentifier,
} from "../profiles/identifiers.ts";
import type { MergedProfile } from "../profiles/merged-store.ts";
import type { FoundIdentifier, NewProfile, ProfileFields, ProfileRow } from "../profiles/store.ts";
import type { Name } from "../profiles/written.ts";
import type { DatedEmailStateRow, SpelledState } from "../subscriptions/states.ts";
import { parsePending, prevails, type WaitingState } from "../subscriptions/waiting-state.ts";
import type { Effect, Extent } from "./combine/effects.ts";
import { combineFields } from "./combine/fields.ts";
import { EMPTY } from "./combine/whole.ts";

/*
 * All users named by a request about identities, in memory, so that its items apply in order, each
 * to the result of the earlier ones. No query runs here; the result is written once at the end
 * (save-graph.ts). A user merged into a second, who is merged into a third, moves once, from the
 * first to the third.
 */

export interface Person {
  readonly id: string;
  /** Undefined if the request created the user. */
  readonly stored: ProfileRow | undefined;
  fields: ProfileFields;
  /** The merged profiles whose ids identify this one. */
  redirects: readonly Redirect[];
  /** The place in the order of updates: the highest is the most recently updated. */
  rank: number;
  isTouched: boolean;
  /** Merged away or deleted. */
  isGone: boolean;
}

export type Redirect = Omit<MergedProfile, "keptProfileId">;

/** A change to users. The effects are those on the profile's row. */
export type Change =
  | {
      readonly kind: "merge";
      readonly kept: Name;
      readonly merged: Name;
      readonly extent: Extent;
      readonly effects: readonly Effect[];
      readonly sides: MergedSides;
    }
  | { readonly kind: "identify"; readonly user: Name; readonly effects: readonly Effect[] }
  | { readonly kind: "delete"; readonly user: Name; readonly fields: ProfileFields };

export type PersonBefore = Omit<Person, "isGone">;

/** The rows of both users before a merge, and of the kept one after it. */
export interface MergedSides {
  readonly kept: PersonBefore;
  readonly merged: PersonBefore;
  readonly after: ProfileFields;
  /** Of the kept user. */
  readonly rankAfter: number;
  /** The address that a pending state was linked to. */
  readonly linkedEmail: string | undefined;
}

/** A state that waited in a profile until an address was linked. */
export type LinkedState = WaitingState & Pick<SpelledState, "spelling">;

export interface GraphChanges {
  readonly created: readonly NewProfile[];
  readonly replaced: readonly NewProfile[];
  /** Every stored profile that is changed or removed, as it was read. */
  readonly touched: readonly ProfileRow[];
  readonly removedIds: readonly string[];
  readonly addedIdentifiers: readonly FoundIdentifier[];
  readonly removedIdentifiers: readonly FoundIdentifier[];
  readonly redirected: readonly MergedProfile[];
  readonly forgottenIds: readonly string[];
  /** Users without a profile whose events and purchases are kept for an undo (`merge_behavior: none`), to delete now. */
  readonly orphanIds: readonly string[];
  /** States that waited in a profile for an address. */
  readonly linkedEmailStates: readonly DatedEmailStateRow[];
}

export type IdentityGraph = ReturnType<typeof createGraph>;

export interface GraphOptions {
  /** Creates the id of a profile in the bucket of its first identifier. */
  newId(firstIdentifier: string): string;
  /**
   * Whether the external_id of a merged user still identifies the kept one (redirect_merged_ids).
   */
  readonly redirects: boolean;
  /** Addresses that more users have than are in the graph, as `identifierKey`s. */
  readonly shared: ReadonlySet<string>;
}

/**
 * @param rows the profiles of the graph, the most recently updated first.
 * @param merged the merged profiles whose ids identify them.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the operations share the maps of the graph, which nothing else may touch.
export function createGraph(
  rows: readonly ProfileRow[],
  merged: readonly MergedProfile[],
  { newId, redirects, shared }: GraphOptions,
) {
  const persons = new Map<string, Person>();
  const holders = new Map<string, Set<Person>>();
  const leadsTo = new Map(merged.map((each) => [each.profileId, each.keptProfileId]));
  const storedRedirects: ReadonlyMap<string, readonly MergedProfile[]> = groupBy(
    merged,
    (each) => each.keptProfileId,
  );
  const waitingStates = new Map<string, LinkedState>();
  let lastRank = 0;

  for (const [index, row] of rows.entries()) {
    enter(storedPerson(row, storedRedirects.get(row.id) ?? [], -index));
  }

  function enter(person: Person): void {
    persons.set(person.id, person);
    index(person);
  }

  function index(person: Person): void {
    for (const identifier of identifiersIn(person)) {
      const key = identifierKey(identifier);
      const known = holders.get(key);
      if (known) known.add(person);
      else holders.set(key, new Set([person]));
    }
  }

  function withdraw(person: Person): void {
    for (const identifier of identifiersIn(person)) {
      holders.get(identifierKey(identifier))?.delete(person);
    }
  }

  function set(person: Person, fields: ProfileFields, own = person.redirects): void {
    withdraw(person);
    person.fields = linkEmailState(fields);
    person.redirects = own;
    person.rank = ++lastRank;
    person.isTouched = true;
    index(person);
  }

  function leave(person: Person): void {
    withdraw(person);
    person.isGone = true;
  }

  /**
   * A pending state applies to the address, unless a newer one is stored
   * (docs/decisions/email-state.md).
   */
  function linkEmailState(fields: ProfileFields): ProfileFields {
    const { email, standardAttributes } = fields;
    const { email_subscribe, ...others } = standardAttributes;
    const waiting = parsePending(email_subscribe);
    if (email === null || waiting === undefined) return fields;
    const address = emailValue(email);
    const other = waitingStates.get(address);
    if (!other || prevails(waiting, other)) {
      waitingStates.set(address, { ...waiting, spelling: spellingOf(email) });
    }
    return { ...fields, standardAttributes: others };
  }

  return {
    /** The users that an identifier names now: for an address, all who have it and may be meant. */
    find(identifier: PersonIdentifier): readonly Person[] {
      if (identifier.kind !== "platform_id")
        return [...(holders.get(identifierKey(identifier)) ?? [])];
      const person = persons.get(leadsTo.get(identifier.value) ?? identifier.value);
      return person && !person.isGone ? [person] : [];
    },

    /** Whether more users have an address than the graph has. */
    isShared: (identifier: PersonIdentifier) => shared.has(identifierKey(identifier)),

    /** Whether an identifier of this user was another user's, who was merged away: it leads here, and is not theirs. */
    isInherited({ kind, value }: PersonIdentifier, { id, fields, redirects }: Person) {
      if (kind === "platform_id") return value !== id;
      if (kind === "external_id") {
        const isOwn = value === fields.externalId;
        return !isOwn && redirects.some((each) => each.externalId === value && !each.isRename);
      }
      return kind === "alias" && redirects.some((each) => each.leftAliases?.includes(value));
    },

    /** Creates an alias-only user. */
    create(alias: Alias) {
      const person = newPerson(newId(aliasValue(alias)), alias);
      enter(person);
      set(person, person.fields);
      return person;
    },

    setAliases: (person: Person, aliases: readonly Alias[]) =>
      set(person, { ...person.fields, aliases }),

    /** Gives a user a free external_id. */
    identify(person: Person, externalId: string): Change {
      set(person, { ...person.fields, externalId });
      const values = { kept: null, merged: externalId, result: externalId };
      const effects: Effect[] = [{ field: "external_id", effect: "taken", ...values }];
      return { kind: "identify", user: nameOf(person), effects };
    },

    /** Merges one user into another; the merged one is removed. */
    merge(kept: Person, gone: Person, extent: Extent): Change {
      const [keptName, goneName] = [nameOf(kept), nameOf(gone)];
      const [keptBefore, goneBefore] = [{ ...kept }, { ...gone }];
      const { value, effects } = combineFields(kept.fields, gone.fields, extent, redirects);
      const { externalId } = gone.fields;
      const isRedirected = redirects && externalId !== value.externalId;
      const own = {
        profileId: gone.id,
        externalId: isRedirected ? externalId : null,
        isRename: false,
        leftAliases: extent === "tokens_and_messages" ? gone.fields.aliases.map(aliasValue) : null,
      };
      leave(gone);
      set(kept, value, [...kept.redirects, ...gone.redirects, own]);
      for (const { profileId } of kept.redirects) leadsTo.set(profileId, kept.id);
      const isLinked = value.email !== null && value.standardAttributes.email_subscribe;
      const linkedEmail = isLinked ? emailValue(value.email as string) : undefined;
      const sides = {
        kept: keptBefore,
        merged: goneBefore,
        after: kept.fields,
        rankAfter: kept.rank,
        linkedEmail,
      };
      return { kind: "merge", kept: keptName, merged: goneName, extent, effects, sides };
    },

    /** Gives a user a different, free external_id; the old one still identifies the user. */
    renameExternalId(person: Person, externalId: string) {
      const old = {
        profileId: newId(externalId),
        externalId: person.fields.externalId,
        isRename: true,
        leftAliases: null,
      };
      set(person, { ...person.fields, externalId }, [...person.redirects, old]);
    },

    /** Removes the redirect from an external_id to this user. */
    removeRedirect(person: Person, externalId: string) {
      const redirects = person.redirects.flatMap((each): Redirect[] => {
        if (each.externalId !== externalId) return [each];
        // The platform_id of a merged user keeps leading here.
        return each.isRename ? [] : [{ ...each, externalId: null }];
      });
      set(person, person.fields, redirects);
    },

    remove(person: Person): Change {
      leave(person);
      return { kind: "delete", user: nameOf(person), fields: person.fields };
    },

    /** The states so far that waited in a profile for an address, by the address. */
    linkedStates: (): ReadonlyMap<string, LinkedState> => waitingStates,

    changes(now: Date): GraphChanges {
      const all = [...persons.values()];
      const present = all.filter((person) => person.isTouched && !person.isGone);
      const written = all.filter((person) => person.isTouched || person.isGone);
      const at = (person: Person) => rowOf(person, now.getTime() * 1_000 + person.rank);
      const redirected = present.flatMap((person) => redirectsTo(person));
      const isKept = new Set(redirected.map((each) => each.profileId));
      const known = new Set(merged.map(redirectKey));
      const before = written.flatMap(({ id }) => storedRedirects.get(id) ?? []);
      const gone = all.filter((person) => person.isGone);
      const forgotten = before.filter(({ profileId }) => !isKept.has(profileId));
      return {
        created: present.filter((person) => !person.stored).map(at),
        replaced: present.filter((person) => person.stored).map(at),
        touched: written.flatMap(({ stored }) => (stored ? [stored] : [])),
        removedIds: gone.map((person) => person.id),
        ...identifierChanges(written, storedRedirects),
        redirected: redirected.filter((each) => !known.has(redirectKey(each))),
        forgottenIds: forgotten.map(({ profileId }) => profileId),
        orphanIds: forgotten.flatMap((each) => (each.leftAliases ? [each.profileId] : [])),
        linkedEmailStates: [...waitingStates].map(([email, waiting]) => ({ email, ...waiting })),
      };
    },
  };
}

const redirectKey = ({ profileId, keptProfileId, externalId }: MergedProfile): string =>
  `${profileId} ${keptProfileId} ${externalId ?? ""}`;

/** How the audit and the change feed name a person. */
export const nameOf = (person: Person): Name => ({
  platformId: person.id,
  externalId: person.fields.externalId,
});

const redirectsTo = (person: Person): MergedProfile[] =>
  person.redirects.map((each) => ({ ...each, keptProfileId: person.id }));

const identifiersIn = ({ fields, redirects }: Person): Identifier[] =>
  identifiersOf(fields, redirects);

/** Identifiers that now identify another profile. */
function identifierChanges(
  persons: readonly Person[],
  storedRedirects: ReadonlyMap<string, readonly MergedProfile[]>,
): Pick<GraphChanges, "addedIdentifiers" | "removedIdentifiers"> {
  const addedIdentifiers: FoundIdentifier[] = [];
  const removedIdentifiers: FoundIdentifier[] = [];
  for (const person of persons) {
    const { id, stored } = person;
    const before = byKey(stored ? identifiersOf(stored, storedRedirects.get(id) ?? []) : []);
    const after = byKey(person.isGone ? [] : identifiersIn(person));
    for (const [key, each] of after) {
      if (!before.delete(key)) addedIdentifiers.push({ ...each, profileId: id });
    }
    for (const each of before.values()) removedIdentifiers.push({ ...each, profileId: id });
  }
  return { addedIdentifiers, removedIdentifiers };
}

const byKey = (identifiers: readonly Identifier[]): Map<string, Identifier> =>
  new Map(identifiers.map((each) => [identifierKey(each), each]));

const storedPerson = (
  stored: ProfileRow,
  redirects: readonly Redirect[],
  rank: number,
): Person => ({
  id: stored.id,
  stored,
  fields: stored,
  redirects,
  rank,
  isTouched: false,
  isGone: false,
});

const newPerson = (id: string, alias: Alias): Person => ({
  id,
  stored: undefined,
  fields: { ...EMPTY.profile, aliases: [alias] },
  redirects: [],
  rank: 0,
  isTouched: true,
  isGone: false,
});

const rowOf = ({ id, fields }: Person, updatedAtMicros: number): NewProfile => ({
  id,
  externalId: fields.externalId,
  aliases: fields.aliases,
  email: fields.email,
  phone: fields.phone,
  standardAttributes: fields.standardAttributes,
  customAttributes: fields.customAttributes,
  updatedAtMicros,
});
