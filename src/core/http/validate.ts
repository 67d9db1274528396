import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { Problem } from "../base/problem.ts";
import { refuseUnstorableText, storableText } from "../base/values/plain-json.ts";
import { leavingOutAbsent } from "./absent-members.ts";
import type { Contract } from "./endpoint.ts";
import { longestList, withShortLists } from "./shortened-lists.ts";
import { faultyItems, noList, sentenceOf } from "./validation-sentence.ts";

// A union of objects has errors from every branch, and the intended branch may be the last. Every
// faulty item of a request is reported, and one may have several errors.
Settings.Set({ maxErrors: 512 });

interface Parts {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

/**
 * Compiles the checks of a contract: takes the raw parts of a request, returns them as declared.
 *
 * @throws Problem INVALID_REQUEST that names the field and the rule.
 */
export function compileContract(contract: Contract): (parts: Parts) => Parts {
  const params = contract.params && compile(contract.params, "path");
  const uuidParams = uuidsOf(contract.params);
  const query = contract.query && compile(contract.query, "query");
  const headers = contract.headers && compile(contract.headers, "headers");
  const body = contract.body && compile(contract.body, "body");
  // Administrators write requests by hand: a null there is a mistake.
  const isClients = contract.access.by === "key";
  const readBody =
    contract.body && isClients ? leavingOutAbsent(contract.body) : (value: unknown) => value;
  const { query: querySchema } = contract;
  // What people send is one resource or one question, and refused as a whole; SCIM has words of its own for it.
  const isWhole = !isClients && contract.access.by !== "scim" && !contract.hasItems;
  // The parser of SCIM filters checks their text itself.
  const isFiltered = contract.dialect === "scim";
  const readParameters = (raw: unknown, schema: TSchema) => {
    const read = readQuery(raw, schema, isClients);
    return isFiltered ? read : storable(read, "query");
  };
  return (parts) => ({
    params: params?.(lowerCaseUuids(storable(parts.params, "path"), uuidParams)),
    query: query && querySchema && query(readParameters(parts.query, querySchema)),
    headers: headers?.(parts.headers),
    body: body?.(readBody(isWhole ? storable(parts.body, "body") : parts.body)),
  });
}

function storable<Value>(value: Value, part: string): Value {
  refuseUnstorableText(value, part);
  return value;
}

function uuidsOf(schema: TSchema | undefined): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Scalar> };
  return Object.keys(properties).filter((name) => properties[name]?.format === "uuid");
}

/** Ids are stored in lower case, and a caller may write them in either. */
function lowerCaseUuids(params: unknown, names: readonly string[]): unknown {
  if (names.length === 0) return params;
  const read = { ...(params as Record<string, string>) };
  for (const name of names) read[name] = read[name]?.toLowerCase() ?? "";
  return read;
}

/** The check of a body as an endpoint's own: takes a value, returns it. @throws Problem as `compileContract`. */
export const checkOf = (schema: TSchema): ((value: unknown) => unknown) => compile(schema, "body");

function compile(schema: TSchema, part: string): (value: unknown) => unknown {
  const validator = Compile(schema);
  const longest = longestList(schema);
  return (value) => {
    if (validator.Check(value)) return value;
    const found = validator.Errors(withShortLists(value, longest));
    const errors = found.length > 0 ? found : validator.Errors(value);
    const sentence = storableText(sentenceOf(errors, part, value));
    // In SCIM's terms: a body of another form is a matter of syntax, a parameter one of its value.
    if (part !== "body")
      throw new Problem("INVALID_REQUEST", sentence, { scimType: "invalidValue" });
    const items = faultyItems(errors).map((fault) => ({
      code: "INVALID_REQUEST",
      ...fault,
      // It may quote a key that no engine can store, and a response with an Idempotency-Key is stored.
      message: storableText(fault.message),
    }));
    const details = items.length > 0 ? { body: { errors: items } } : { list: noList(errors) };
    throw new Problem("INVALID_REQUEST", sentence, details);
  };
}

/**
 * A query string as its schema means it: `name=`, `name[]=` and `name[0]=`, repeated or not, are
 * one list if the schema has an array; digits are a number if it has an integer; a UUID may be in
 * upper case.
 *
 * @param leavesOutEmpty whether an optional parameter without a value, `name=`, is absent.
 * @throws Problem INVALID_REQUEST for a repeated parameter that is no list.
 */
function readQuery(
  raw: unknown,
  schema: TSchema,
  leavesOutEmpty: boolean,
): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Scalar>;
    required?: readonly string[];
  };
  const lists = new Map<string, string[]>();
  for (const [key, value] of Object.entries(raw as Record<string, string | string[]>)) {
    const name = key.replace(/\[\d*\]$/, "");
    const list = lists.get(name) ?? [];
    lists.set(name, list);
    // Added to, not copied: there may be thousands of one name.
    for (const each of [value].flat()) list.push(each);
  }
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, values] of lists) {
    const isEmpty = values.length === 1 && values[0] === "";
    // A reader that lost its cursor would read from the beginning: spec, GET /cdi/integrations.
    const isOptional = !required.includes(name) && name !== "cursor";
    if (isEmpty && leavesOutEmpty && isOptional) continue;
    const property = properties[name] ?? {};
    const isList = property.type === "array";
    if (!isList && properties[name] && values.length > 1) refuseRepeated(name);
    query[name] = isList ? values : readScalar(values.at(-1) ?? "", property);
  }
  return query;
}

function refuseRepeated(name: string): never {
  const sentence = `'${name}' is given more than once, but takes only one value`;
  throw new Problem("INVALID_REQUEST", sentence, { scimType: "invalidValue" });
}

interface Scalar {
  readonly type?: string;
  readonly format?: string;
}

function readScalar(text: string, { type, format }: Scalar): unknown {
  if (format === "uuid") return text.toLowerCase();
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text))
    return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
