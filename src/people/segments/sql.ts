/*
 * A condition of a segment as SQL over `profiles p`.
 *
 * Some conditions depend on data that SQL cannot read together with a profile: the state of an
 * address is in the bucket of the address, and an attribute may hold a time in any of the written
 * forms. For each profile SQL therefore gives two answers: `must` is true if the condition surely
 * holds, `may` if it possibly holds. If they differ, the condition's predicate decides. Neither is
 * ever null, so that `not` includes users without a value.
 */

export interface Bounds {
  readonly must: string;
  readonly may: string;
  /**
   * The most rows of other tables that are looked up for a user; none if the profile itself is
   * enough.
   */
  readonly lookups?: number;
}

/** A condition that SQL decides. */
export const decided = (sql: string, lookups = 0): Bounds => ({ must: sql, may: sql, lookups });

/** All of these conditions; true for an empty list. */
export const everyOf = (parts: readonly Bounds[]): Bounds => joined(parts, " and ", "true");

/** One of these conditions; false for an empty list. */
export const anyOf = (parts: readonly Bounds[]): Bounds => joined(parts, " or ", "false");

/** A condition that surely fails may not hold, and the other way round. */
export const negated = ({ must, may, lookups = 0 }: Bounds): Bounds => ({
  must: `(not ${may})`,
  may: `(not ${must})`,
  lookups,
});

/** SQL stops at the first part that decides, so parts without look-ups come first. */
function joined(parts: readonly Bounds[], word: string, empty: string): Bounds {
  const cheapFirst = parts.toSorted(({ lookups: one = 0 }, { lookups: other = 0 }) => one - other);
  const join = (side: (part: Bounds) => string) =>
    parts.length === 0 ? empty : `(${cheapFirst.map(side).join(word)})`;
  const lookups = parts.reduce((sum, part) => sum + (part.lookups ?? 0), 0);
  return { must: join((part) => part.must), may: join((part) => part.may), lookups };
}

/** Where a statement gets its values from: nothing of a filter becomes part of its text. */
export interface Values {
  readonly now: Date;
  /** Adds a parameter. @returns it with its type, such as `$3::text`. */
  bind(value: unknown, type: string): string;
}

/**
 * Collects the values of a statement.
 *
 * @param parameters the values before them; is added to.
 */
export const valuesOf = (now: Date, parameters: unknown[]): Values => ({
  now,
  bind: (value, type) => `$${parameters.push(value)}::${type}`,
});
