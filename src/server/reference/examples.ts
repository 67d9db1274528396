import type { TSchema } from "typebox";
import { descriptionOf } from "../../core/http/described.ts";
import { FIELD_NOTES } from "./field-notes.ts";

/* Examples that follow from the schemas: of their parts if those have one, otherwise of the kind. */

interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly allOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
}

const UUID = "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03";

const OF_FORMAT: Readonly<Record<string, string>> = {
  uuid: UUID,
  "date-time": "2026-01-01T12:00:00.000Z",
  email: "ada@example.com",
};

/**
 * A value that the schema accepts, as realistic as the examples of the schema and its fields.
 *
 * @param name the field that has the value, if any.
 */
export function exampleOf(documented: TSchema, name = ""): unknown {
  const schema = descriptionOf(documented) as Shape;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const noted = FIELD_NOTES.get(name)?.example;
  if (noted !== undefined && isOfKind(schema, noted)) return noted;
  if (schema.enum?.length) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0] as TSchema, name);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => exampleOf(each, name)));
  return ofType(schema, name);
}

function ofType(schema: Shape, name: string): unknown {
  switch (schema.type) {
    case "object":
      return ofObject(schema);
    case "array":
      return schema.items ? [exampleOf(schema.items, singular(name))] : [];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "string":
      return OF_FORMAT[schema.format ?? ""] ?? "text";
    default:
      return {};
  }
}

/** Optional members that an ordinary request or response does not have. */
const UNUSUAL = new Set([
  "errors",
  "skipped",
  "warnings",
  "results",
  "dry_run",
  "braze_id",
  "braze_ids",
  "links-tags",
  "link-tags",
  "preference_center_options",
  "redirect_page_html",
  "redirect_url",
  "canvas_id",
]);

function ofObject({ properties = {}, required = [], patternProperties }: Shape): unknown {
  const [value] = Object.values(patternProperties ?? {});
  if (value) return { name: exampleOf(value) };
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name) || !UNUSUAL.has(name))
      .map(([name, schema]) => [name, exampleOf(schema, name)]),
  );
}

const singular = (name: string): string => name.replace(/s$/, "");

/** Whether the schema accepts a field's usual example. */
function isOfKind(schema: Shape, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((each) => isOfKind(each as Shape, value));
  if (schema.enum) return schema.enum.includes(value);
  if (schema.type === "null" || value === null) return schema.type === "null" && value === null;
  if (schema.type === "integer") return Number.isInteger(value);
  if (schema.type === "array") {
    return (
      Array.isArray(value) &&
      value.every((each) => isOfKind(descriptionOf(schema.items ?? ({} as TSchema)) as Shape, each))
    );
  }
  if (schema.type === "object") {
    return (
      typeof value === "object" && value !== null && !Array.isArray(value) && !schema.properties
    );
  }
  return schema.type === undefined ? true : typeof value === schema.type;
}
