import { invalidCursor, opaqueCursor, readOpaque } from "../../core/base/pages.ts";
import { spellingOf } from "../../core/base/values/address-form.ts";
import { unicodeDomain } from "../../core/base/values/domains.ts";
import type { Queryable } from "../../core/database/database.ts";
import {
  ALIAS_SEPARATOR,
  aliasValue,
  emailValue,
  type IdentifierKind,
  isProfileId,
  readAliasValue,
} from "../../core/people/profiles/identifiers.ts";
import { selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import {
  type FoundIdentifier,
  type ProfileRow,
  selectProfiles,
} from "../../core/people/profiles/store.ts";
import { selectIdentifierRange } from "./search-store.ts";

/*
 * The search for people by the beginning of an identifier. Kinds of identifiers are read one after
 * the other, each in the order of its values. All reads use an index and return at most
 * a page. A person who matches several times is found once, at the first match in that order.
 */

/** In the order in which matches are found. */
export const SEARCHED_KINDS = ["external_id", "alias", "email", "phone"] as const;

export interface SearchQuery {
  /** The beginning of an external_id, of an alias name, of an address or of a number; empty for all users. */
  readonly query: string;
  /** Only identifiers of this kind. */
  readonly kind?: IdentifierKind | undefined;
  /** Whether the query is a whole identifier. */
  readonly isExact: boolean;
  /** The `cursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface Match {
  readonly profile: ProfileRow;
  readonly kind: IdentifierKind;
  /** The matching identifier; of an alias, its name. */
  readonly value: string;
}

/** The range in which one kind is searched. */
interface Part {
  readonly kind: IdentifierKind;
  readonly from: string;
  readonly below: string;
  /** Narrows the range further: see `addressPart`. */
  accepts?(value: string): boolean;
}

/** A place between two identifiers. */
interface Position {
  readonly kind: IdentifierKind;
  readonly value: string;
  readonly profileId: string;
}

/**
 * Finds a page of people.
 *
 * @returns the matches, and the cursor of the next page if there may be more; a page may have fewer
 *   matches than its limit.
 * @throws Problem INVALID_REQUEST `Invalid cursor`.
 */
export async function searchPeople(
  database: Queryable,
  workspaceId: number,
  { query, kind, isExact, cursor, limit }: SearchQuery,
): Promise<{ matches: Match[]; next: { readonly next_cursor?: string } }> {
  const parts = partsOf(query, isExact);
  const searched = kind === undefined ? parts : parts.filter((part) => part.kind === kind);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const found = await selectFrom(database, workspaceId, searched, after, limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const ids = [...new Set(page.map(({ profileId }) => profileId))];
  const profiles = await selectProfiles(database, workspaceId, ids);
  const merged = await selectMergedInto(database, workspaceId, ids);
  const profileOf = new Map(profiles.map((profile) => [profile.id, profile]));
  const matches = page.flatMap((row) => {
    const profile = profileOf.get(row.profileId);
    if (!profile) return [];
    const redirects = merged.filter((each) => each.keptProfileId === profile.id);
    const first = firstMatch(identifiersOf(profile, redirects), searched);
    if (first?.kind !== row.kind || first.value !== row.value) return [];
    return [{ profile, kind: row.kind, value: shown(row, profile) }];
  });
  const hasMore = found.length > limit && last !== undefined;
  return { matches, next: hasMore ? { next_cursor: cursorOf(last) } : {} };
}

/** Sorts after every continuation of a prefix, except one with this last code point. */
const LAST_CHARACTER = "\u{10ffff}";

function partsOf(query: string, isExact: boolean): Part[] {
  const part = (kind: IdentifierKind, from: string): Part => ({
    kind,
    from,
    // Exactly one value: no other text fits below its successor.
    below: isExact ? `${from}\u0001` : from + LAST_CHARACTER,
  });
  const name = isExact ? query + ALIAS_SEPARATOR : query;
  const alias: Part = { kind: "alias", from: name, below: name + LAST_CHARACTER };
  const phone = phonePrefix(query);
  return [
    part("external_id", query),
    alias,
    isExact ? part("email", emailValue(query)) : addressPart(query),
    ...(phone === undefined ? [] : [part("phone", phone)]),
  ];
}

/**
 * Addresses that begin with a text. The beginning of a domain beyond ASCII is none of its form: among all domains in
 * punycode there, those whose letters begin so are picked.
 */
function addressPart(query: string): Part {
  const text = query.toLowerCase().normalize("NFC");
  const at = text.lastIndexOf("@") + 1;
  const labels = at === 0 ? [] : text.slice(at).split(".");
  const beyond = labels.findIndex((label) => /[^\0-\x7f]/.test(label));
  const from =
    beyond < 0
      ? emailValue(query)
      : text.slice(0, at) + [...labels.slice(0, beyond), "xn--"].join(".");
  return {
    kind: "email",
    from,
    below: from + LAST_CHARACTER,
    ...(beyond >= 0 && { accepts: (value) => inLetters(value).startsWith(text) }),
  };
}

/** The form of an address with its domain in letters. */
const inLetters = (form: string): string => {
  const at = form.lastIndexOf("@") + 1;
  return form.slice(0, at) + unicodeDomain(form.slice(at));
};

/** The stored form of a number such as `+1 (415) 555` or `1415555`. */
function phonePrefix(query: string): string | undefined {
  if (query === "") return "";
  if (!/^\+?\d[\d\s().-]*$/.test(query)) return undefined;
  return `+${query.replaceAll(/\D/g, "")}`;
}

async function selectFrom(
  database: Queryable,
  workspaceId: number,
  parts: readonly Part[],
  after: Position | undefined,
  limit: number,
): Promise<FoundIdentifier[]> {
  const found: FoundIdentifier[] = [];
  const begun = after ? SEARCHED_KINDS.indexOf(after.kind) : 0;
  for (const part of parts) {
    if (SEARCHED_KINDS.indexOf(part.kind) < begun || found.length >= limit) continue;
    const range = {
      ...part,
      after: after?.kind === part.kind ? after : undefined,
      limit: limit - found.length,
    };
    found.push(...(await selectIdentifierRange(database, workspaceId, range)));
  }
  return found;
}

type Identifier = Omit<Position, "profileId">;

function identifiersOf(
  { externalId, aliases, email, phone }: ProfileRow,
  redirects: readonly { readonly externalId: string | null }[],
): Identifier[] {
  const externalIds = [externalId, ...redirects.map((each) => each.externalId)];
  return [
    ...externalIds.flatMap((value) => (value === null ? [] : [of("external_id", value)])),
    ...aliases.map((alias) => of("alias", aliasValue(alias))),
    ...(email === null ? [] : [of("email", emailValue(email))]),
    ...(phone === null ? [] : [of("phone", phone)]),
  ];
}

const of = (kind: IdentifierKind, value: string): Identifier => ({ kind, value });

/** The first identifier of a person that matches, in the order of the search. */
function firstMatch(
  identifiers: readonly Identifier[],
  parts: readonly Part[],
): Identifier | undefined {
  for (const { kind, from, below, accepts } of parts) {
    const [first] = identifiers
      .filter((each) => each.kind === kind && isWithin(each.value, from, below))
      .filter(({ value }) => accepts?.(value) ?? true)
      .sort((one, other) => compareBytes(one.value, other.value));
    if (first) return first;
  }
  return undefined;
}

const isWithin = (value: string, from: string, below: string): boolean =>
  compareBytes(value, from) >= 0 && compareBytes(value, below) < 0;

/** The order of the engine's collation "C", which differs from JavaScript's beyond U+FFFF. */
const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

function shown({ kind, value }: FoundIdentifier, { email }: ProfileRow): string {
  if (kind === "alias") return readAliasValue(value).alias_name;
  return (kind === "email" && email !== null && spellingOf(email)) || value;
}

const cursorOf = ({ kind, value, profileId }: FoundIdentifier): string =>
  opaqueCursor(`${kind} ${profileId} ${value}`);

function readCursor(cursor: string): Position {
  const [kind = "", profileId = "", value = ""] = readOpaque(cursor, /^(\S+) (\S+) (.*)$/s);
  const isKind = (SEARCHED_KINDS as readonly string[]).includes(kind);
  if (!isKind || !isProfileId(profileId)) throw invalidCursor();
  return { kind: kind as IdentifierKind, profileId, value };
}
