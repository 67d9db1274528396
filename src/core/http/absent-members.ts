import type { TSchema } from "typebox";

interface Shape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, TSchema>>;
  /** Of an object with names of any kind. */
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

type Reader = (value: unknown) => unknown;

const asItIs: Reader = (value) => value;

/**
 * Reads a body and drops optional members without a value: those that are null, and lists that are
 * empty where the schema asks for an element. Existing clients write every field that they have.
 *
 * decision: docs/decisions/null-is-absent.md. A null that the schema allows stays, and so does the
 * null of a switch or a choice, which is then refused. Parts that the schema only describes (an item
 * that is checked by itself) are left unchanged: null may have a meaning there.
 *
 * @returns a function that returns the same value if there is nothing to leave out.
 */
export function leavingOutAbsent(schema: TSchema): Reader {
  const { type, properties = {}, patternProperties, required = [], items } = schema as Shape;
  if (type === "array" && items) return eachBy(leavingOutAbsent(items));
  const [named] = Object.values(patternProperties ?? {});
  if (named) return ofNamed(named);
  const members = Object.entries(properties);
  const optional = members.filter(([name]) => !required.includes(name));
  const nullable = namesOf(optional, (member) => !takesNull(member) && !isChoice(member));
  const lists = namesOf(optional, needsElement);
  const readers = members
    .map(([name, member]) => [name, leavingOutAbsent(member)] as const)
    .filter(([, read]) => read !== asItIs);
  if (nullable.length === 0 && readers.length === 0) return asItIs;
  return (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    const given = withoutAbsent(value as Record<string, unknown>, nullable, lists);
    const read = readers.filter(([name]) => given[name] !== undefined);
    if (read.length === 0) return given;
    return { ...given, ...Object.fromEntries(read.map(([name, by]) => [name, by(given[name])])) };
  };
}

const namesOf = (
  members: readonly (readonly [string, TSchema])[],
  fits: (member: TSchema) => boolean,
): string[] => members.filter(([, member]) => fits(member)).map(([name]) => name);

const isOrHas =
  (test: (shape: Shape) => boolean) =>
  (schema: TSchema): boolean =>
    test(schema as Shape) || ((schema as Shape).anyOf ?? []).some((each) => test(each as Shape));

/** Also a value that the use case checks itself. */
const takesNull = isOrHas(
  ({ type, enum: values, anyOf }) =>
    type === "null" || (type === undefined && values === undefined && anyOf === undefined),
);

const isChoice = isOrHas(({ type, enum: values }) => type === "boolean" || values !== undefined);

const needsElement = isOrHas(({ type, minItems = 0 }) => type === "array" && minItems > 0);

/** Each member of an object whose names are free. */
function ofNamed(schema: TSchema): Reader {
  const read = leavingOutAbsent(schema);
  const isNullAbsent = !takesNull(schema) && !isChoice(schema);
  if (read === asItIs && !isNullAbsent) return asItIs;
  return (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    const members = Object.entries(value).filter(([, member]) => !isNullAbsent || member !== null);
    return Object.fromEntries(members.map(([name, member]) => [name, read(member)]));
  };
}

const eachBy = (read: Reader): Reader =>
  read === asItIs ? asItIs : (value) => (Array.isArray(value) ? value.map(read) : value);

/** Absent values are rare; without one nothing is copied. */
function withoutAbsent(
  object: Record<string, unknown>,
  nullable: readonly string[],
  lists: readonly string[],
): Record<string, unknown> {
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
  const absent = [
    ...nullable.filter((name) => object[name] === null),
    ...lists.filter((name) => isEmpty(object[name])),
  ];
  if (absent.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !absent.includes(name)));
}
