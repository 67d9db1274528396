import { isJsonObject, type Json, type JsonObject } from "../../../core/base/values/plain-json.ts";
import { userNameKey } from "../../dashboard-users/feature.ts";
import { type Attribute, findAttribute } from "./attributes.ts";

/**
 * A resource in the form that filters compare: text is in lower case if the attribute ignores case.
 *
 * @param source values that `readAttributes` returned, or parts of them.
 */
export function searchable(attributes: readonly Attribute[], source: JsonObject): JsonObject {
  const entries = Object.entries(source).flatMap(([key, value]): [string, Json][] => {
    const attribute = findAttribute(attributes, key);
    return attribute ? [[key, searchableValue(attribute, value)]] : [];
  });
  return Object.fromEntries(entries);
}

function searchableValue(attribute: Attribute, value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => searchableValue(attribute, each));
  if (isJsonObject(value)) return searchable(attribute.subAttributes ?? [], value);
  return typeof value === "string" ? searchableText(attribute, value) : value;
}

/**
 * Times have one canonical form, so case carries no meaning in them; user names have a separate
 * key.
 */
export function searchableText(attribute: Attribute, text: string): string {
  if (attribute.caseExact || attribute.type === "dateTime") return text;
  return attribute.name === "userName" ? userNameKey(text) : text.toLowerCase();
}
