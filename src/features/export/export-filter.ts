import Type, { type Static } from "typebox";
import { Problem } from "../../core/base/problem.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { readQueryTime } from "../../core/base/values/query-time.ts";
import { STANDARD_ATTRIBUTES } from "../../core/people/profiles/standard-attributes.ts";

export const ExportQuery = Type.Object({
  since: Type.Optional(Type.String({ maxLength: 64, description: "ISO 8601; included." })),
  until: Type.Optional(Type.String({ maxLength: 64, description: "ISO 8601; not included." })),
  attribute: Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), {
      maxItems: 20,
      description: "name=value of an attribute that users must have.",
    }),
  ),
});

export type ExportQuery = Static<typeof ExportQuery>;

export interface ExportFilter {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly standardAttributes: Record<string, Json>;
  readonly customAttributes: Record<string, Json>;
}

/** @throws Problem INVALID_REQUEST that names the parameter. */
export function readFilter({ since, until, attribute = [] }: ExportQuery): ExportFilter {
  const filter: ExportFilter = {
    since: readQueryTime("since", since),
    until: readQueryTime("until", until),
    standardAttributes: {},
    customAttributes: {},
  };
  for (const text of attribute) {
    const at = text.indexOf("=");
    const name = text.slice(0, at);
    if (at < 1 || name === "__proto__") {
      throw new Problem("INVALID_REQUEST", "'attribute' must be name=value, such as plan=pro");
    }
    const value = readValue(text.slice(at + 1));
    if (!Object.hasOwn(STANDARD_ATTRIBUTES, name)) filter.customAttributes[name] = value;
    else if (isStored(name)) filter.standardAttributes[name] = value;
    else {
      const known = Object.keys(STANDARD_ATTRIBUTES).filter(isStored).join(", ");
      const message = `'attribute' cannot be ${name}. It is a custom attribute or one of ${known}`;
      throw new Problem("INVALID_REQUEST", message);
    }
  }
  return filter;
}

/** Addresses and states are not stored with the attributes: segments find users by them. */
const isStored = (name: string): boolean =>
  !("derived" in STANDARD_ATTRIBUTES[name as keyof typeof STANDARD_ATTRIBUTES].exported);

/** A number, a boolean or JSON if it is one; otherwise a text. */
function readValue(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
