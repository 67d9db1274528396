import { type Queryable, settleAll } from "../../core/database/database.ts";
import type { IdentifierKind } from "../../core/people/profiles/identifiers.ts";
import { countNames, NAME_KINDS, type NameKind, selectWords } from "./search-store.ts";

/*
 * Names in the search: each word of the query begins a word of the name, in any order, whatever the case and accents.
 * Names are read by the word of the query that the fewest have, at each place that it can have in a name; the other
 * words narrow them (docs/decisions/search-by-name.md). Names of more than five words are all read.
 */

export type SearchedKind = IdentifierKind | NameKind | "added";

/** An identifier, or a name from one of its words on. */
export interface Searched {
  readonly kind: SearchedKind;
  readonly value: string;
  readonly words?: string | undefined;
}

export interface Part {
  readonly kind: SearchedKind;
  /** Included. */
  readonly from: string;
  /** Not included. */
  readonly below: string;
  /** Read from the last to the first. */
  readonly isDescending?: boolean;
  /** Narrows the range further. */
  accepts?(found: Searched): boolean;
}

/** Sorts after every continuation of a prefix, except one with this last code point. */
export const LAST_CHARACTER = "\u{10ffff}";

/** How many words are tried, and how many names are counted at each of the first two places. */
const TRIED_WORDS = 3;
const COUNTED_NAMES = 2_000;

/**
 * The ranges of names in which a query is searched.
 *
 * @param isAll whether an empty query is for all names; by default it is for none.
 */
export async function nameParts(
  database: Queryable,
  workspaceId: number,
  query: string,
  isAll: boolean,
): Promise<readonly Part[]> {
  if (query === "") {
    // Each name is found at its first place.
    return isAll ? NAME_KINDS.slice(0, 1).map((kind) => ({ kind, ...rangeOf("") })) : [];
  }
  const words = await selectWords(database, query);
  const rarest = await rarestOf(database, workspaceId, words);
  if (rarest === undefined) return [];
  const all = (found: Searched) => hasWords(found, words);
  return NAME_KINDS.map((kind) => {
    if (kind === "name_long") return { kind, ...rangeOf(""), accepts: all };
    return { kind, ...rangeOf(rarest), ...(words.length > 1 && { accepts: all }) };
  });
}

/** Whether each of these words begins one of the name. */
function hasWords({ words: name = "" }: Searched, words: readonly string[]): boolean {
  const all = name.split(" ");
  return words.every((word) => all.some((each) => each.startsWith(word)));
}

const rangeOf = (from: string) => ({ from, below: from + LAST_CHARACTER });

/** The word that the fewest names have, among the longest. */
async function rarestOf(
  database: Queryable,
  workspaceId: number,
  words: readonly string[],
): Promise<string | undefined> {
  const [longest, ...others] = [...new Set(words)]
    .sort((one, other) => other.length - one.length)
    .slice(0, TRIED_WORDS);
  if (longest === undefined || others.length === 0) return longest;
  const counts: { word: string; count: number }[] = [];
  for (const word of [longest, ...others]) {
    const range = { ...rangeOf(word), limit: COUNTED_NAMES };
    const [first, second] = await settleAll([
      countNames(database, workspaceId, { kind: "name1", ...range }),
      countNames(database, workspaceId, { kind: "name2", ...range }),
    ]);
    counts.push({ word, count: first + second });
  }
  return counts.sort((one, other) => one.count - other.count)[0]?.word;
}

/** A name as each of its indexes has it. */
export function searchedWords(words = ""): Searched[] {
  const all = words.split(" ");
  return NAME_KINDS.flatMap((kind, index) => {
    const value = kind === "name1" || kind === "name_long" ? words : (all[index] ?? "");
    return value !== "" && index < all.length ? [{ kind, value, words }] : [];
  });
}
