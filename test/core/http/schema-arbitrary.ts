import fc from "fast-check";
import type { TSchema } from "typebox";
import { anyText } from "../../any-text.ts";

/*
 * Values for a declared schema, made by fast-check: mostly valid, with a fault here and there,
 * because a request that is wrong everywhere is refused at its first fault.
 */

/** The part of a JSON schema that declarations use. */
interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly anyOf?: readonly TSchema[];
  readonly allOf?: readonly TSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Names that mean something to some endpoint, so that free objects get past the first check. */
const KNOWN_NAMES = [
  "external_id",
  "user_alias",
  "alias_name",
  "alias_label",
  "platform_id",
  "email",
  "phone",
  "name",
  "time",
  "properties",
  "product_id",
  "currency",
  "price",
  "quantity",
  "app_id",
  "_update_existing_only",
  "_merge_objects",
  "subscription_groups",
  "email_subscribe",
  "push_tokens",
  "first_name",
  "dob",
  "country",
  "inc",
  "add",
  "$add",
  "__proto__",
  "constructor",
];

const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "\ud800",
  "a\u0000b",
  "'; drop table profiles; --",
  "{{7*7}}",
  "../../etc/passwd",
  "\u202e\u200b",
  "😀".repeat(300),
  "x".repeat(70_000),
  "NaN",
  "-0",
  "1e999",
  "__proto__",
  "%00",
  "null",
];

const MEANT_TEXTS = [
  "ada",
  "bob",
  "ada@example.com",
  "+14155552671",
  "2026-01-01T12:00:00Z",
  "opened",
  "USD",
  "subscribed",
  "identified",
  "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
  "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
];

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...MEANT_TEXTS) },
  { weight: 2, arbitrary: anyText({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
);

const number = fc.oneof(
  fc.integer({ min: -3, max: 120 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(2 ** 53, -(2 ** 63), 1e308, 5e-324, 0.1),
);

/** Any JSON value, with names that mean something and some that should mean nothing. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...KNOWN_NAMES), text), tie("value")), {
        maxLength: 5,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;

/** A value for a schema; about one part in twenty is something else. */
export const valueFor = (schema: TSchema): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary: meant(schema as Shape) }, { weight: 1, arbitrary: anyValue });

/** A value that is known to work, with up to two of its parts replaced, removed or added to. */
export const mutationOf = (sample: unknown): fc.Arbitrary<unknown> =>
  fc
    .array(
      fc.record({
        place: fc.nat(),
        change: fc.constantFrom("replace", "remove", "add"),
        name: fc.oneof(fc.constantFrom(...KNOWN_NAMES), text),
        value: anyValue,
      }),
      { maxLength: 2 },
    )
    .map((changes) => {
      const whole: Holder = { sample: structuredClone(sample) };
      for (const { place, change, name, value } of changes) {
        const places = placesIn(whole);
        const [holder, key] = places[place % places.length] ?? [whole, "sample"];
        if (change === "add" && Array.isArray(holder)) holder.push(value);
        else if (change === "add") define(holder, name, value);
        else if (change === "remove" && holder !== whole) delete holder[key];
        else define(holder, key, value);
      }
      return whole.sample;
    });

type Holder = Record<string, unknown>;

/** As `JSON.parse` does: `__proto__` too is a key like others. */
const define = (holder: Holder, name: string, value: unknown): void =>
  void Object.defineProperty(holder, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });

/** Every member of every object and array, with its parent. */
function placesIn(holder: Holder): [holder: Holder, key: string][] {
  return Object.entries(holder).flatMap(([key, value]) => [
    [holder, key] as [Holder, string],
    ...(value !== null && typeof value === "object" ? placesIn(value as Holder) : []),
  ]);
}

function meant(shape: Shape): fc.Arbitrary<unknown> {
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map(valueFor));
  if (shape.allOf) {
    return fc.tuple(...shape.allOf.map(valueFor)).map((parts) => Object.assign({}, ...parts));
  }
  if ("const" in shape) return fc.constant(shape.const);
  if (shape.enum) return fc.constantFrom(...shape.enum);
  switch (shape.type) {
    case "object":
      return objectFor(shape);
    case "array":
      return fc.array(shape.items ? valueFor(shape.items) : anyValue, {
        minLength: Math.min(shape.minItems ?? 0, 3),
        maxLength: 4,
      });
    case "string":
      return shape.format === "uuid" ? fc.oneof(fc.uuid(), text) : text;
    case "integer":
      return fc.integer({ min: shape.minimum ?? -2, max: shape.maximum ?? 1_000 });
    case "number":
      return number;
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return anyValue;
  }
}

function objectFor({ properties = {}, required = [], patternProperties }: Shape) {
  const entries = Object.entries(properties);
  const [anyName] = Object.values(patternProperties ?? {});
  const free = fc.array(fc.tuple(text, anyName ? valueFor(anyName) : anyValue), {
    maxLength: anyName ? 3 : 0,
  });
  const known = fc.tuple(
    ...entries.map(([name, schema]) =>
      fc.option(
        valueFor(schema).map((value) => [name, value] as const),
        { nil: undefined, freq: required.includes(name) ? 20 : 2 },
      ),
    ),
  );
  const extra = fc.oneof(
    { weight: 19, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.tuple(text, anyValue).map((entry) => [entry]) },
  );
  return fc
    .tuple(known, free, extra)
    .map(([some, ...more]) =>
      Object.fromEntries([...some.filter((entry) => entry !== undefined), ...more.flat()]),
    );
}
