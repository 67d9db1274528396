import type { Effect, Extent } from "../profiles/combine/effects.ts";
import { combineFields } from "../profiles/combine/fields.ts";
import type { ProfileFields } from "../profiles/combine/whole.ts";
import {
  type Alias,
  aliasValue,
  emailValue,
  type Identifier,
  identifierKey,
  type Who,
} from "../profiles/identifiers.ts";
import type { MergedProfile } from "../profiles/merged-store.ts";
import type { FoundIdentifier, NewProfile, ProfileRow } from "../profiles/store.ts";
import type { EmailState, EmailStateRow } from "../subscriptions/states.ts";

/*
 * Everybody whom a request about identities names, in memory, so that its items can be worked out in
 * their order, each on what the ones before it left. No database is asked here; what came of it is
 * written at the end, once (save-cast.ts). A user who is merged into a second, who is merged into a
 * third, moves once, from the first to the third.
 */

/** One user of the cast. */
export interface Member {
  readonly id: string;
  /** Undefined where the request made the user. */
  readonly stored: ProfileRow | undefined;
  fields: ProfileFields;
  /** The merged profiles whose ids lead here. */
  redirects: readonly Redirect[];
  /** The place in the order of updates: the highest is the most recently updated. */
  rank: number;
  isTouched: boolean;
  /** Merged away or deleted. */
  isGone: boolean;
}

export type Redirect = Omit<MergedProfile, "keptProfileId">;

/** How a report and the audit name a user, as the user was when it happened. */
export interface Name {
  readonly platformId: string;
  readonly externalId: string | null;
}

/** What became of users. The effects are those on the profile's row. */
export type Change =
  | {
      readonly kind: "merge";
      readonly kept: Name;
      readonly merged: Name;
      readonly extent: Extent;
      readonly effects: readonly Effect[];
    }
  | { readonly kind: "identify"; readonly user: Name; readonly effects: readonly Effect[] }
  | { readonly kind: "delete"; readonly user: Name; readonly fields: ProfileFields };

/** What is to be written about the profiles. */
export interface CastChanges {
  readonly created: readonly NewProfile[];
  readonly replaced: readonly NewProfile[];
  /** Every stored profile that is written to or removed, as it was read. */
  readonly touched: readonly ProfileRow[];
  readonly removedIds: readonly string[];
  readonly addedIdentifiers: readonly FoundIdentifier[];
  readonly removedIdentifiers: readonly FoundIdentifier[];
  readonly redirected: readonly MergedProfile[];
  readonly forgottenIds: readonly string[];
  /** States that waited in a profile for an address. */
  readonly initialEmailStates: readonly EmailStateRow[];
}

export interface Cast {
  /** Whom an identifier names now; for an address all who have it. */
  find(who: Who): readonly Member[];
  /** Makes an alias-only user. */
  create(alias: Alias): Member;
  setAliases(member: Member, aliases: readonly Alias[]): void;
  /** Gives a user an external_id that nobody has. */
  identify(member: Member, externalId: string): Change;
  /** Joins one user with another, who is gone then. */
  merge(kept: Member, merged: Member, extent: Extent): Change;
  remove(member: Member): Change;
  changes(now: Date): CastChanges;
}

export interface CastOptions {
  newId(): string;
  /** Whether the external_id of a merged user leads to the kept one (redirect_merged_ids). */
  readonly redirects: boolean;
}

/**
 * @param rows the profiles of the cast, the most recently updated first.
 * @param merged the merged profiles that lead to them.
 */
export function createCast(
  rows: readonly ProfileRow[],
  merged: readonly MergedProfile[],
  { newId, redirects }: CastOptions,
): Cast {
  const members = new Map<string, Member>();
  const holders = new Map<string, Set<Member>>();
  const leadsTo = new Map(merged.map((each) => [each.profileId, each.keptProfileId]));
  const storedRedirects = byKept(merged);
  const initialEmailStates = new Map<string, EmailStateRow>();
  let lastRank = 0;

  for (const [index, row] of rows.entries()) {
    enter(memberOf(row, storedRedirects.get(row.id) ?? [], -index));
  }

  function enter(member: Member): void {
    members.set(member.id, member);
    index(member);
  }

  function index(member: Member): void {
    for (const identifier of identifiersOf(member)) {
      const key = identifierKey(identifier);
      const known = holders.get(key);
      if (known) known.add(member);
      else holders.set(key, new Set([member]));
    }
  }

  function withdraw(member: Member): void {
    for (const identifier of identifiersOf(member)) {
      holders.get(identifierKey(identifier))?.delete(member);
    }
  }

  function set(member: Member, fields: ProfileFields, own = member.redirects): void {
    withdraw(member);
    member.fields = linkEmailState(fields);
    member.redirects = own;
    member.rank = ++lastRank;
    member.isTouched = true;
    index(member);
  }

  function leave(member: Member): void {
    withdraw(member);
    member.isGone = true;
  }

  /**
   * A state that waited for an address becomes that of the address, unless it has one already.
   * decision: docs/decisions/email-state.md.
   */
  function linkEmailState(fields: ProfileFields): ProfileFields {
    const { email, standardAttributes } = fields;
    const { email_subscribe: state, ...others } = standardAttributes;
    if (email === null || state === undefined) return fields;
    const address = emailValue(email);
    if (!initialEmailStates.has(address)) {
      initialEmailStates.set(address, { email: address, state: state as EmailState });
    }
    return { ...fields, standardAttributes: others };
  }

  return {
    find(who) {
      if (who.kind !== "platform_id") return [...(holders.get(identifierKey(who)) ?? [])];
      const member = members.get(leadsTo.get(who.value) ?? who.value);
      return member && !member.isGone ? [member] : [];
    },

    create(alias) {
      const member = newMember(newId(), alias);
      enter(member);
      set(member, member.fields);
      return member;
    },

    setAliases: (member, aliases) => set(member, { ...member.fields, aliases }),

    identify(member, externalId) {
      set(member, { ...member.fields, externalId });
      const values = { kept: null, merged: externalId, result: externalId };
      const effects: Effect[] = [{ field: "external_id", effect: "taken", ...values }];
      return { kind: "identify", user: nameOf(member), effects };
    },

    merge(kept, gone, extent) {
      const names = { kept: nameOf(kept), merged: nameOf(gone) };
      const { value, effects } = combineFields(kept.fields, gone.fields, extent, redirects);
      const { externalId } = gone.fields;
      const isRedirected = redirects && externalId !== value.externalId;
      const own = { profileId: gone.id, externalId: isRedirected ? externalId : null };
      leave(gone);
      set(kept, value, [...kept.redirects, ...gone.redirects, own]);
      for (const { profileId } of kept.redirects) leadsTo.set(profileId, kept.id);
      return { kind: "merge", ...names, extent, effects };
    },

    remove(member) {
      leave(member);
      return { kind: "delete", user: nameOf(member), fields: member.fields };
    },

    changes(now) {
      const all = [...members.values()];
      const present = all.filter((member) => member.isTouched && !member.isGone);
      const written = all.filter((member) => member.isTouched || member.isGone);
      const at = (member: Member) => rowOf(member, now.getTime() * 1_000 + member.rank);
      const redirected = present.flatMap((member) => redirectsTo(member));
      const isKept = new Set(redirected.map((each) => each.profileId));
      const known = new Set(merged.map((each) => `${each.profileId} ${each.keptProfileId}`));
      const gone = all.filter((member) => member.isGone);
      return {
        created: present.filter((member) => !member.stored).map(at),
        replaced: present.filter((member) => member.stored).map(at),
        touched: written.flatMap(({ stored }) => (stored ? [stored] : [])),
        removedIds: gone.map((member) => member.id),
        ...identifierChanges(written, storedRedirects),
        redirected: redirected.filter(
          (each) => !known.has(`${each.profileId} ${each.keptProfileId}`),
        ),
        forgottenIds: gone
          .flatMap((member) => member.redirects.map((each) => each.profileId))
          .filter((id) => !isKept.has(id)),
        initialEmailStates: [...initialEmailStates.values()],
      };
    },
  };
}

export const nameOf = (member: Member): Name => ({
  platformId: member.id,
  externalId: member.fields.externalId,
});

function byKept(merged: readonly MergedProfile[]): ReadonlyMap<string, readonly MergedProfile[]> {
  const groups = new Map<string, MergedProfile[]>();
  for (const each of merged) {
    const group = groups.get(each.keptProfileId);
    if (group) group.push(each);
    else groups.set(each.keptProfileId, [each]);
  }
  return groups;
}

const redirectsTo = (member: Member): MergedProfile[] =>
  member.redirects.map((each) => ({ ...each, keptProfileId: member.id }));

/** Everything that leads to a profile, as it stands in the index of identifiers. */
function identifiersOf({ fields, redirects }: Pick<Member, "fields" | "redirects">): Identifier[] {
  const { externalId, aliases, email, phone } = fields;
  const externalIds = [externalId, ...redirects.map((each) => each.externalId)];
  return [
    ...externalIds.flatMap((value) => (value === null ? [] : [identifier("external_id", value)])),
    ...aliases.map((alias) => identifier("alias", aliasValue(alias))),
    ...(email === null ? [] : [identifier("email", emailValue(email))]),
    ...(phone === null ? [] : [identifier("phone", phone)]),
  ];
}

const identifier = (kind: Identifier["kind"], value: string): Identifier => ({ kind, value });

/** What leads elsewhere than before. */
function identifierChanges(
  members: readonly Member[],
  storedRedirects: ReadonlyMap<string, readonly MergedProfile[]>,
): Pick<CastChanges, "addedIdentifiers" | "removedIdentifiers"> {
  const before = new Map<string, FoundIdentifier>();
  const after = new Map<string, FoundIdentifier>();
  const put = (map: Map<string, FoundIdentifier>, id: string, found: readonly Identifier[]) => {
    for (const each of found) map.set(`${identifierKey(each)} ${id}`, { ...each, profileId: id });
  };
  for (const member of members) {
    const redirects = storedRedirects.get(member.id) ?? [];
    if (member.stored) put(before, member.id, identifiersOf({ fields: member.stored, redirects }));
    if (!member.isGone) put(after, member.id, identifiersOf(member));
  }
  const only = (map: ReadonlyMap<string, FoundIdentifier>, other: ReadonlyMap<string, unknown>) =>
    [...map].filter(([key]) => !other.has(key)).map(([, each]) => each);
  return { addedIdentifiers: only(after, before), removedIdentifiers: only(before, after) };
}

const memberOf = (stored: ProfileRow, redirects: readonly Redirect[], rank: number): Member => ({
  id: stored.id,
  stored,
  fields: stored,
  redirects,
  rank,
  isTouched: false,
  isGone: false,
});

const newMember = (id: string, alias: Alias): Member => ({
  id,
  stored: undefined,
  fields: {
    externalId: null,
    aliases: [alias],
    email: null,
    phone: null,
    standardAttributes: {},
    customAttributes: {},
  },
  redirects: [],
  rank: 0,
  isTouched: true,
  isGone: false,
});

const rowOf = ({ id, fields }: Member, updatedAtMicros: number): NewProfile => ({
  id,
  externalId: fields.externalId,
  aliases: fields.aliases,
  email: fields.email,
  phone: fields.phone,
  standardAttributes: fields.standardAttributes,
  customAttributes: fields.customAttributes,
  updatedAtMicros,
});
