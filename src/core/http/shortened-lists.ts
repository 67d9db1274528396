/*
 * What is wrong with a value is found more slowly than that something is: each entry of a list is checked by itself, in each
 * branch of a union. Of a list that is too long the entries that it may have say enough.
 */

interface Part {
  readonly type?: unknown;
  readonly maxItems?: number;
}

/** The most entries that any list of a schema may have; without end if one has no limit, or if there is no list. */
export function longestList(schema: object): number {
  const limits = new Set<number>();
  const seen = new Set<object>();
  const visit = (part: object) => {
    if (seen.has(part)) return;
    seen.add(part);
    const { type, maxItems = Number.POSITIVE_INFINITY } = part as Part;
    if (type === "array") limits.add(maxItems);
    for (const inner of Object.values(part)) if (inner && typeof inner === "object") visit(inner);
  };
  visit(schema);
  return limits.size > 0 ? Math.max(...limits) : Number.POSITIVE_INFINITY;
}

/** Schemas have no lists deeper than this. */
const DEEPEST = 12;

/** The value with no more than `most` entries and one in each list; itself if it has no longer one. */
export function withShortLists(value: unknown, most: number, levels = DEEPEST): unknown {
  if (most === Number.POSITIVE_INFINITY || levels === 0) return value;
  if (value === null || typeof value !== "object") return value;
  const shorten = (inner: unknown) => withShortLists(inner, most, levels - 1);
  if (Array.isArray(value)) {
    const entries = value.length > most ? value.slice(0, most + 1) : value;
    const short = entries.map(shorten);
    return entries !== value || short.some((entry, at) => entry !== value[at]) ? short : value;
  }
  const members = Object.entries(value);
  const short = members.map(([name, member]) => [name, shorten(member)] as const);
  return short.some(([, member], at) => member !== members[at]?.[1])
    ? Object.fromEntries(short)
    : value;
}
