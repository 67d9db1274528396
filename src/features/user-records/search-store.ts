import type { Queryable } from "../../core/database/database.ts";
import type { IdentifierKind } from "../../core/people/profiles/identifiers.ts";
import { wordsOf } from "../../core/people/profiles/name-words-store.ts";
import type { FoundIdentifier } from "../../core/people/profiles/store.ts";

/** Identifiers of one kind whose values are in a range, in the order of their bytes. */
export interface IdentifierRange {
  readonly kind: IdentifierKind;
  /** Included. */
  readonly from: string;
  /** Not included. */
  readonly below: string;
  /** From the last to the first. */
  readonly isDescending?: boolean | undefined;
  /** Only entries behind this one. */
  readonly after: { readonly value: string; readonly profileId: string } | undefined;
  readonly limit: number;
}

/**
 * Reads a range. The kind is in the text of the statement, because the planner has to see that a
 * partial index holds it (`identifiers_of_one`, `identifiers_of_many`).
 */
export async function selectIdentifierRange(
  database: Queryable,
  workspaceId: number,
  { kind, ...range }: IdentifierRange,
) {
  const isShared = kind === "email" || kind === "phone";
  const { isWithin, order, parameters } = rangeSql("value", range, isShared);
  return database.query<FoundIdentifier>(
    `select kind, value, profile_id as "profileId" from identifiers
     where workspace_id = $1 and kind = '${kind}' and ${isWithin} order by ${order} limit $4`,
    [workspaceId, ...parameters],
  );
}

/**
 * The condition and the order of a range, for a statement with the workspace as its first parameter.
 *
 * @param isShared whether users can have the same value.
 */
function rangeSql(
  value: string,
  { from, below, isDescending = false, after, limit }: Omit<IdentifierRange, "kind">,
  isShared: boolean,
) {
  const behind = (bound: string, beyond: string) =>
    isShared
      ? `(${value}, profile_id) ${beyond} (${bound}, $5::uuid)`
      : `${value} ${beyond} ${bound}`;
  const isWithin =
    after && !isDescending
      ? `${behind("$2", ">")} and ${value} < $3`
      : `${value} >= $2 and ${after ? behind("$3", "<") : `${value} < $3`}`;
  const direction = isDescending ? " desc" : "";
  return {
    isWithin,
    order: `${value}${direction}${isShared ? `, profile_id${direction}` : ""}`,
    parameters: [
      isDescending ? from : (after?.value ?? from),
      isDescending ? (after?.value ?? below) : below,
      limit,
      ...(after && isShared ? [after.profileId] : []),
    ],
  };
}

/** A user among all, by the id: in the order in which users were added. */
interface AddedUser {
  readonly kind: "added";
  readonly value: string;
  readonly profileId: string;
}

export async function selectAddedRange(
  database: Queryable,
  workspaceId: number,
  { isDescending = false, after, limit }: Omit<IdentifierRange, "kind">,
) {
  const behind = after ? `and profile_id ${isDescending ? "<" : ">"} $3::uuid` : "";
  return database.query<AddedUser>(
    `select 'added' as kind, profile_id::text as value, profile_id as "profileId" from profiles
     where workspace_id = $1 ${behind} order by profile_id ${isDescending ? "desc" : ""} limit $2`,
    [workspaceId, limit, ...(after ? [after.profileId] : [])],
  );
}

/**
 * The indexes of names (migrations/0042-finds-names.sql): by the whole name, by the word at each of the next four
 * places, and of names with more words.
 */
const NAME_INDEXES = {
  name1: { value: "name_words", where: "name_words <> ''" },
  name2: wordAt(2),
  name3: wordAt(3),
  name4: wordAt(4),
  name5: wordAt(5),
  name_long: { value: "name_words", where: wordAt(6).where },
} as const;

function wordAt(place: number) {
  const value = `split_part(name_words, ' ', ${place})`;
  return { value, where: `${value} <> ''` };
}

export type NameKind = keyof typeof NAME_INDEXES;

export const NAME_KINDS = Object.keys(NAME_INDEXES) as readonly NameKind[];

/** A name, and its word in the index that it was found in, or the whole name. */
export interface FoundName {
  readonly kind: NameKind;
  readonly value: string;
  readonly profileId: string;
  /** The whole name. */
  readonly words: string;
}

export interface NameRange extends Omit<IdentifierRange, "kind"> {
  readonly kind: NameKind;
}

export async function selectNameRange(
  database: Queryable,
  workspaceId: number,
  { kind, ...range }: NameRange,
) {
  const { value, where } = NAME_INDEXES[kind];
  const { isWithin, order, parameters } = rangeSql(value, range, true);
  return database.query<FoundName>(
    `select '${kind}' as kind, ${value} as value, profile_id as "profileId", name_words as words
     from profiles
     where workspace_id = $1 and ${where} and ${isWithin} order by ${order} limit $4`,
    [workspaceId, ...parameters],
  );
}

/** How many names have a word in a range at a place, if they are not more than `limit`. */
export async function countNames(
  database: Queryable,
  workspaceId: number,
  { kind, from, below, limit }: Omit<NameRange, "after" | "isDescending">,
): Promise<number> {
  const { value, where } = NAME_INDEXES[kind];
  const [row] = await database.query<{ count: number }>(
    `select count(*) from (select 1 from profiles
       where workspace_id = $1 and ${where} and ${value} >= $2 and ${value} < $3 limit $4) as few`,
    [workspaceId, from, below, limit],
  );
  return row?.count ?? 0;
}

/** The words of a text, as profiles have those of names. */
export async function selectWords(database: Queryable, text: string): Promise<string[]> {
  const [row] = await database.query<{ words: string }>(WORDS, [text]);
  return row?.words.split(" ").filter((word) => word !== "") ?? [];
}

const WORDS = `select ${wordsOf("query")} as words from (select $1::text as query) as queries`;
