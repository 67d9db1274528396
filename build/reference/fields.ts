import { escapeHtml } from "../../src/core/http/sentence-page.ts";
import { resolve, type Schema } from "./calls.ts";
import { htmlOf } from "./guides.ts";

/* A schema as a list of fields. */

const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split("/").at(-1);

const isNull = (schema: Schema): boolean => schema.type === "null";

/** What kind of value it is, in words. */
export function kindOf(schema: Schema): string {
  const { type, items, anyOf, allOf, additionalProperties, ...rest } = resolve(schema);
  const values = (rest.enum ?? (rest.const === undefined ? undefined : [rest.const])) as
    | readonly unknown[]
    | undefined;
  if (values) return values.map((each) => JSON.stringify(each)).join(" or ");
  if (anyOf) return [...new Set(anyOf.map(kindOf))].join(" or ");
  if (allOf) return nameOf(schema) ?? "object";
  if (type === "array") return items ? `list of ${kindOf(items)}` : "list";
  if (type === "object" || additionalProperties) {
    const isMap = typeof additionalProperties === "object";
    return (
      nameOf(schema) ?? (isMap ? `object with values: ${kindOf(additionalProperties)}` : "object")
    );
  }
  const { format } = rest as { format?: string };
  return format ? `${type} (${format})` : (type ?? "any value");
}

const counted = (value: unknown, one: string, many: string): string =>
  `${value} ${value === 1 ? one : many}`;
const characters = (value: unknown) => counted(value, "character", "characters");
const entries = (value: unknown) => counted(value, "entry", "entries");

const LIMITS: Readonly<Record<string, (value: unknown) => string>> = {
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  minLength: (value) => `at least ${characters(value)}`,
  maxLength: (value) => `at most ${characters(value)}`,
  minItems: (value) => `at least ${entries(value)}`,
  maxItems: (value) => `at most ${entries(value)}`,
  default: (value) => `by default ${JSON.stringify(value)}`,
};

const limitsOf = (schema: Schema): string =>
  Object.entries(LIMITS)
    .flatMap(([keyword, words]) => (keyword in schema ? [words(schema[keyword])] : []))
    .join(", ");

/** The objects that a value is made of, each with its fields: itself, its entries, its values, or its alternatives. */
function objectsIn(schema: Schema): readonly Schema[] {
  const { properties, items, anyOf, allOf, additionalProperties } = resolve(schema);
  if (properties) return [schema];
  if (items) return objectsIn(items);
  if (anyOf) return anyOf.filter((each) => !isNull(each)).flatMap(objectsIn);
  if (allOf) return [joined(allOf)];
  return typeof additionalProperties === "object" ? objectsIn(additionalProperties) : [];
}

/** One object with the fields of all. */
const joined = (all: readonly Schema[]): Schema => {
  const parts = all.map(resolve);
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
};

/** Deeper ones are in the example. */
const DEEPEST = 5;

/** The fields of a schema; empty if it has none. @param above the names of the schemas around it. */
export function fieldsOf(schema: Schema, above: readonly string[] = []): string {
  const objects = objectsIn(schema);
  if (objects.length === 1 && objects[0]) return listOf(objects[0], above);
  return objects
    .map((each) => {
      const fields = listOf(each, above);
      return (
        fields && `<details><summary>${escapeHtml(labelOf(each))}</summary>${fields}</details>`
      );
    })
    .join("");
}

/** An alternative is known by its name, or by the constants among its fields. */
function labelOf(schema: Schema): string {
  const { properties = {} } = resolve(schema);
  const constants = Object.entries(properties).flatMap(([name, each]) => {
    const { const: value, enum: values } = resolve(each) as { const?: unknown; enum?: unknown[] };
    const only = value ?? (values?.length === 1 ? values[0] : undefined);
    return only === undefined ? [] : [`${name}: ${JSON.stringify(only)}`];
  });
  return nameOf(schema) ?? (constants.join(", ") || Object.keys(properties).slice(0, 3).join(", "));
}

function listOf(schema: Schema, above: readonly string[]): string {
  const { properties = {}, required = [] } = resolve(schema);
  const name = nameOf(schema);
  const isRepeated = name !== undefined && above.includes(name);
  if (isRepeated || above.length >= DEEPEST || Object.keys(properties).length === 0) return "";
  const within = [...above, name ?? ""];
  const rows = Object.entries(properties).map(([field, each]) =>
    rowOf(field, each, required.includes(field), fieldsOf(each, within)),
  );
  return `<dl>${rows.join("")}</dl>`;
}

/** One field or parameter. @param nested the fields that it has itself. */
export function rowOf(field: string, schema: Schema, isRequired: boolean, nested = ""): string {
  const resolved = resolve(schema);
  const { description = resolved.description ?? "" } = schema;
  const limits = limitsOf(resolved);
  const needed = isRequired ? ' <strong class="required">required</strong>' : "";
  const inner =
    nested && `<details><summary>Fields of ${escapeHtml(field)}</summary>${nested}</details>`;
  return (
    `<div><dt><code>${escapeHtml(field)}</code> <span class="kind">${escapeHtml(kindOf(schema))}</span>${needed}</dt>` +
    `<dd>${description && htmlOf(description).html}${limits && `<p class="limits">${escapeHtml(limits)}</p>`}${inner}</dd></div>`
  );
}
