/*
 * To find every fault of a value takes far longer than to find out that it has one: each entry of a list is checked in each
 * branch of a union. A list that is too long is refused anyway, so no more of its entries are looked at than it may have.
 */

interface Part {
  readonly type?: unknown;
  readonly maxItems?: number;
}

/** The most entries that any list of a schema may have; Infinity if one has no limit, or if there is no list. */
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

/** A body may be nested without end. Lists below this level keep their length. */
const DEEPEST = 12;

/** The value with at most `most + 1` entries in each list, so that a longer one is still too long; itself if none is longer. */
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
