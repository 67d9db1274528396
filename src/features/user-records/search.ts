import { invalidCursor, opaqueCursor, readOpaque } from "../../core/base/pages.ts";
import { spellingOf } from "../../core/base/values/address-form.ts";
import { unicodeDomain } from "../../core/base/values/domains.ts";
import type { Queryable } from "../../core/database/database.ts";
import {
  ALIAS_SEPARATOR,
  emailValue,
  type IdentifierKind,
  identifiersOf,
  isProfileId,
  readAliasValue,
} from "../../core/people/profiles/identifiers.ts";
import { selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";
import {
  LAST_CHARACTER,
  nameParts,
  type Part,
  type Searched,
  type SearchedKind,
  searchedWords,
} from "./search-names.ts";
import {
  NAME_KINDS,
  type NameKind,
  selectAddedRange,
  selectIdentifierRange,
  selectNameRange,
} from "./search-store.ts";

/*
 * The search for people by the beginning of an identifier, or of words of their name. Kinds of identifiers are read
 * one after the other, each in the order of its values, and then names. All reads use an index, and are
 * bounded. A person who matches several times is found once, at the first match in that order.
 */

/** In the order in which matches are found. */
const SEARCHED_KINDS: readonly SearchedKind[] = [
  ...(["external_id", "alias", "email", "phone"] as const),
  ...NAME_KINDS,
  "added",
];

/** Orders that an index serves; "-" reverses one. By address or name only users who have one are found. */
export const ORDERS = ["added", "-added", "email", "-email", "name", "-name"] as const;

export interface SearchQuery {
  /**
   * The beginning of an external_id, of an alias name, of an address, of a number, or of words of a name; empty for
   * all users.
   */
  readonly query: string;
  /** Only identifiers of this kind, or only names. */
  readonly kind?: IdentifierKind | "name" | undefined;
  /** Whether the query is a whole identifier. */
  readonly isExact: boolean;
  /** All users in this order, instead of a search. */
  readonly order?: (typeof ORDERS)[number] | undefined;
  /** Which of some users are wanted; by default all. */
  readonly membersOf?: ((ids: readonly string[]) => Promise<ReadonlySet<string>>) | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface Match {
  readonly profile: ProfileRow;
  readonly kind: IdentifierKind | "name" | "platform_id";
  /** The matching identifier; of an alias, its name. */
  readonly value: string;
}

/** A place between two identifiers or names. */
interface Position extends Searched {
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
  wanted: SearchQuery,
): Promise<{ matches: Match[]; next: { readonly next_cursor?: string } }> {
  const searched = wanted.order
    ? [wholeOrder(wanted.order)]
    : await searchedParts(database, workspaceId, wanted);
  const { found, next } = await selectFrom(database, workspaceId, searched, wanted);
  const ids = [...new Set(found.map(({ profileId }) => profileId))];
  const profiles = await selectProfiles(database, workspaceId, ids);
  const merged = await selectMergedInto(database, workspaceId, ids);
  const profileOf = new Map(profiles.map((profile) => [profile.id, profile]));
  const matches = found.flatMap((row) => {
    const profile = profileOf.get(row.profileId);
    if (!profile) return [];
    const redirects = merged.filter((each) => each.keptProfileId === profile.id);
    const id: Searched = { kind: "added", value: profile.id };
    const all = [id, ...identifiersOf(profile, redirects), ...searchedWords(row.words)];
    const first = firstMatch(all, searched);
    return first?.kind === row.kind && first.value === row.value ? [matchOf(row, profile)] : [];
  });
  return { matches, next: next ? { next_cursor: cursorOf(next) } : {} };
}

async function searchedParts(
  database: Queryable,
  workspaceId: number,
  { query, kind, isExact }: SearchQuery,
): Promise<Part[]> {
  const names = isExact ? [] : await nameParts(database, workspaceId, query, kind === "name");
  return [...partsOf(query, isExact), ...names].filter(
    (part) => kind === undefined || part.kind.startsWith(kind),
  );
}

function wholeOrder(order: (typeof ORDERS)[number]): Part {
  const by = order.replace("-", "") as "added" | "email" | "name";
  const kind = by === "name" ? "name1" : by;
  return { kind, from: "", below: LAST_CHARACTER, isDescending: order.startsWith("-") };
}

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
    ...(beyond >= 0 && { accepts: ({ value }) => inLetters(value).startsWith(text) }),
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

/** How many rows of a narrowed range one statement reads, and about how many of it one request. */
const STEP_ROWS = 2_000;
const MOST_ROWS = 10_000;

/** How many users a filter looks at at once, and how many milliseconds one request looks for more. */
const FILTERED_ROWS = 500;
const FILTER_MS = 100;

/** @returns what was found, and where the next page begins; undefined if there is none. */
async function selectFrom(
  database: Queryable,
  workspaceId: number,
  parts: readonly Part[],
  { cursor, limit, membersOf }: SearchQuery,
): Promise<{ found: Position[]; next: Position | undefined }> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const until = performance.now() + FILTER_MS;
  const found: Position[] = [];
  let read = 0;
  const begun = after ? SEARCHED_KINDS.indexOf(after.kind) : 0;
  for (const part of parts) {
    if (SEARCHED_KINDS.indexOf(part.kind) < begun) continue;
    let last = after?.kind === part.kind ? after : undefined;
    for (let hasMore = true; hasMore; ) {
      const few = membersOf && read > 0 ? FILTERED_ROWS : limit + 1 - found.length;
      const size = part.accepts ? STEP_ROWS : few;
      const rows = await selectRange(database, workspaceId, part, last, size);
      const accepted = rows.filter((row) => part.accepts?.(row) ?? true);
      const members = await membersOf?.(accepted.map(({ profileId }) => profileId));
      found.push(...accepted.filter(({ profileId }) => members?.has(profileId) ?? true));
      if (found.length > limit) return { found: found.slice(0, limit), next: found[limit - 1] };
      last = rows.at(-1);
      read += rows.length;
      hasMore = rows.length === size;
      const isOver = read >= MOST_ROWS || (membersOf && performance.now() > until);
      if (hasMore && isOver) return { found, next: last };
    }
  }
  return { found, next: undefined };
}

function selectRange(
  database: Queryable,
  workspaceId: number,
  { kind, from, below, isDescending }: Part,
  after: Position | undefined,
  limit: number,
): Promise<Position[]> {
  const range = { from, below, isDescending, after, limit };
  if (kind === "added") return selectAddedRange(database, workspaceId, range);
  return isName(kind)
    ? selectNameRange(database, workspaceId, { kind, ...range })
    : selectIdentifierRange(database, workspaceId, { kind, ...range });
}

const isName = (kind: SearchedKind): kind is NameKind =>
  (NAME_KINDS as readonly string[]).includes(kind);

/** The first identifier of a person that matches, in the order of the search. */
function firstMatch(
  identifiers: readonly Searched[],
  parts: readonly Part[],
): Searched | undefined {
  for (const { kind, from, below, accepts } of parts) {
    const [first] = identifiers
      .filter((each) => each.kind === kind && isWithin(each.value, from, below))
      .filter((each) => accepts?.(each) ?? true)
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

function matchOf({ kind, value }: Position, profile: ProfileRow): Match {
  const { email, standardAttributes: attributes } = profile;
  if (kind === "added") return { profile, kind: "platform_id", value };
  if (kind === "alias") return { profile, kind, value: readAliasValue(value).alias_name };
  if (kind === "external_id" || kind === "phone") return { profile, kind, value };
  if (kind === "email") return { profile, kind, value: (email && spellingOf(email)) || value };
  const names = [attributes.first_name, attributes.last_name].filter((each) => each);
  return { profile, kind: "name", value: names.join(" ") };
}

const cursorOf = ({ kind, value, profileId }: Position): string =>
  opaqueCursor(`${kind} ${profileId} ${value}`);

function readCursor(cursor: string): Position {
  const [kind = "", profileId = "", value = ""] = readOpaque(cursor, /^(\S+) (\S+) (.*)$/s);
  const isKind = (SEARCHED_KINDS as readonly string[]).includes(kind);
  if (!isKind || !isProfileId(profileId)) throw invalidCursor();
  return { kind: kind as SearchedKind, profileId, value };
}
