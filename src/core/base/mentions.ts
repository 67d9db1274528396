/*
 * Finds texts that name a person: stored responses, logs and calls that hold identifiers inside
 * other text. A name counts as a whole word or number, in any case: `ada` is in `"ada"` and in
 * `'Ada'`, not in `adam`. Its spellings in JSON and in a path count as well.
 */

export type Mentions = ReturnType<typeof mentionsOf>;

/** Engines compile one expression in memory that grows with its length. */
const LONGEST_PATTERN = 4_000;

/** @param names identifiers as the person has them; empty ones are left out. */
export function mentionsOf(names: readonly string[]) {
  const spellings = new Set(names.filter((name) => name !== "").flatMap(spellingsOf));
  const groups = groupsOf([...spellings]);
  const expressions = groups.map(
    (group) =>
      new RegExp(
        `(?<![\\p{L}\\p{N}])(?:${group.map(escapedForJs).join("|")})(?![\\p{L}\\p{N}])`,
        "iu",
      ),
  );
  return {
    /** The same as regular expressions of PostgreSQL, for `text ~* any($1::text[])`. */
    patterns: groups.map(
      (group) => `(^|[^[:alnum:]])(${group.map(escapedForSql).join("|")})($|[^[:alnum:]])`,
    ),
    in: (text: string) => expressions.some((expression) => expression.test(text)),
  };
}

const spellingsOf = (name: string): string[] => [
  name,
  JSON.stringify(name).slice(1, -1),
  encodeURIComponent(name),
];

function groupsOf(spellings: readonly string[]): string[][] {
  const groups: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const spelling of spellings) {
    if (length + spelling.length > LONGEST_PATTERN) {
      groups.push([]);
      length = 0;
    }
    groups.at(-1)?.push(spelling);
    length += spelling.length;
  }
  return groups;
}

const escapedForJs = (text: string): string => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, "\\$&");

/** A backslash before punctuation takes its meaning away. */
const escapedForSql = (text: string): string => text.replaceAll(/[!-/:-@[-`{-~]/g, "\\$&");
