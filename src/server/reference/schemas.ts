import type { TSchema } from "typebox";
import { descriptionOf } from "../../core/http/described.ts";
import { FIELD_NOTES } from "./field-notes.ts";

/*
 * Schemas as the document shows them. A schema with a title becomes a component under that name; a field without a
 * description gets the one of its name (field-notes.ts).
 */

type Json = Record<string, unknown>;

/** Collects components while schemas are written. */
export interface Components {
  readonly schemas: Map<string, Json>;
}

export const newComponents = (): Components => ({ schemas: new Map() });

/**
 * A schema as the document shows it: with descriptions, and references to components.
 *
 * @throws if two different schemas have the same title.
 */
export function published(components: Components, documented: TSchema, field = ""): Json {
  const schema = descriptionOf(documented) as unknown as Json;
  const { title } = schema;
  if (typeof title !== "string" || !/^[A-Z]\w+$/.test(title))
    return written(components, schema, field);
  const known = components.schemas.get(title);
  const component = written(components, schema, "");
  if (known && JSON.stringify(known) !== JSON.stringify(component)) {
    throw new Error(`Two schemas have the title ${title}.`);
  }
  components.schemas.set(title, component);
  return { $ref: `#/components/schemas/${title}` };
}

/** Keywords that only make sense in a validator. */
const LEFT_OUT = new Set(["title", "describes", "patternProperties", "~refine", "isDistinct"]);

function written(components: Components, schema: Json, field: string): Json {
  const json: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(key)) continue;
    json[key] = partOf(components, key, value);
  }
  if (schema.isDistinct) json.uniqueItems = true;
  const [record] = Object.values((schema.patternProperties ?? {}) as Record<string, TSchema>);
  if (record) json.additionalProperties = published(components, record);
  if (Array.isArray(schema.enum) && schema.enum.every((each) => typeof each === "string")) {
    json.type = "string";
  }
  const note = FIELD_NOTES.get(field);
  if (json.description === undefined && note) json.description = note.description;
  return json;
}

function partOf(components: Components, key: string, value: unknown): unknown {
  if (key === "properties") {
    const members = Object.entries(value as Record<string, TSchema>);
    return Object.fromEntries(
      members.map(([name, member]) => [name, published(components, member, name)]),
    );
  }
  if (key === "anyOf" || key === "allOf") {
    return (value as TSchema[]).map((each) => published(components, each));
  }
  if (key === "items") return published(components, value as TSchema);
  if (key === "additionalProperties" && typeof value === "object") {
    return published(components, value as TSchema);
  }
  return value;
}
