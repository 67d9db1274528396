import type { TSchema } from "typebox";

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

type Reader = (value: unknown) => unknown;

const asItIs: Reader = (value) => value;

/**
 * Reads a body and drops members that are null if the schema has them optional and does not allow
 * null for them. Existing clients write every field that they have.
 *
 * decision: docs/decisions/null-is-absent.md. Parts that the schema only describes (an item that is
 * checked by itself) are left unchanged: null may have a meaning there.
 *
 * @returns a function that returns the same value if there is nothing to leave out.
 */
export function leavingOutNulls(schema: TSchema): Reader {
  const { type, properties = {}, required = [], items } = schema as Shape;
  if (type === "array" && items) return eachBy(leavingOutNulls(items));
  const members = Object.entries(properties);
  const optional = members
    .filter(([name, member]) => !required.includes(name) && isTextOrList(member))
    .map(([name]) => name);
  const readers = members
    .map(([name, member]) => [name, leavingOutNulls(member)] as const)
    .filter(([, read]) => read !== asItIs);
  if (optional.length === 0 && readers.length === 0) return asItIs;
  return (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    const given = withoutNull(value as Record<string, unknown>, optional);
    const read = readers.filter(([name]) => given[name] !== undefined);
    if (read.length === 0) return given;
    return { ...given, ...Object.fromEntries(read.map(([name, by]) => [name, by(given[name])])) };
  };
}

const isTextOrList = (schema: TSchema): boolean => {
  const { type, anyOf = [] } = schema as Shape;
  if (anyOf.some((branch) => (branch as Shape).type === "null")) return false;
  return type === "string" || type === "array" || anyOf.some(isTextOrList);
};

const eachBy = (read: Reader): Reader =>
  read === asItIs ? asItIs : (value) => (Array.isArray(value) ? value.map(read) : value);

/** Nulls are rare; without one nothing is copied. */
function withoutNull(
  object: Record<string, unknown>,
  names: readonly string[],
): Record<string, unknown> {
  if (!names.some((name) => object[name] === null)) return object;
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => value !== null || !names.includes(name)),
  );
}
