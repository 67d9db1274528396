import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { Problem } from "../problem.ts";
import { leavingOutNulls } from "./absent-members.ts";
import type { Contract } from "./endpoint.ts";
import { refuseUnstorableText } from "./storable-text.ts";

// A union of objects has errors from each of its branches, and the branch that is meant may be the last.
Settings.Set({ maxErrors: 64 });

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
  const query = contract.query && compile(contract.query, "query");
  const headers = contract.headers && compile(contract.headers, "headers");
  const body = contract.body && compile(contract.body, "body");
  // What an administrator sends is written by hand: a null there is a slip.
  const readBody =
    contract.body && contract.access.by === "key"
      ? leavingOutNulls(contract.body)
      : (value: unknown) => value;
  const { query: querySchema } = contract;
  // What an administrator sends is mostly one thing, and refused as one.
  const isWhole = contract.access.by === "administrator" && !contract.hasItems;
  // A filter of SCIM is a text in a text, and is refused in SCIM's words.
  const isFiltered = contract.dialect === "scim";
  const readParameters = (raw: unknown, schema: TSchema) => {
    const read = readQuery(raw, schema);
    return isFiltered ? read : storable(read, "query");
  };
  return (parts) => ({
    params: params?.(storable(parts.params, "path")),
    query: query && querySchema && query(readParameters(parts.query, querySchema)),
    headers: headers?.(parts.headers),
    body: body?.(readBody(isWhole ? storable(parts.body, "body") : parts.body)),
  });
}

function storable<Value>(value: Value, part: string): Value {
  refuseUnstorableText(value, part);
  return value;
}

function compile(schema: TSchema, part: string): (value: unknown) => unknown {
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return value;
    // In SCIM's words: a body of another form is a matter of syntax, a parameter one of its value.
    const details = part === "body" ? {} : { scimType: "invalidValue" };
    throw new Problem("INVALID_REQUEST", sentenceOf(validator.Errors(value), part), details);
  };
}

interface ValidationError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

const A_VALUE_OF: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a string",
};

/** One sentence that names the field as a caller would write it: `'updates[0].name' must be …`. */
export function sentenceOf(all: readonly ValidationError[], part: string): string {
  const errors = ofMeantBranches(all);
  const error = tellingOf(errors);
  if (!error) return `The ${part} is not valid.`;
  const field = fieldPath(error.instancePath);
  const subject = field ? `'${field}'` : `The ${part}`;
  const { requiredProperties, additionalProperties, type, allowedValues, format } =
    error.params as {
      requiredProperties?: string[];
      additionalProperties?: string[];
      type?: string;
      allowedValues?: unknown[];
      format?: string;
    };
  if (format === "uuid") return `${subject} must be a UUID`;
  if (error.keyword === "required" && requiredProperties) {
    const names = requiredProperties.map((name) => `'${field ? `${field}.` : ""}${name}'`);
    return `${names.join(", ")} ${names.length > 1 ? "are" : "is"} required`;
  }
  if (error.keyword === "additionalProperties" && additionalProperties) {
    return `${subject} has a key that is not known: '${additionalProperties.join("', '")}'`;
  }
  if (error.keyword === "type" && type) return `${subject} must be ${A_VALUE_OF[type] ?? type}`;
  if (error.keyword === "enum" && allowedValues) {
    return `${subject} must be one of ${allowedValues.join(", ")}`;
  }
  if (error.keyword === "anyOf") return `${subject} must be ${alternatives(errors, error)}`;
  return `${subject} ${error.message}`;
}

/**
 * Of a union of objects that their `type` tells apart, only the errors of the branch that is meant;
 * where none is, which types there are.
 */
function ofMeantBranches(errors: readonly ValidationError[]): readonly ValidationError[] {
  const strangers = errors.flatMap((error) => {
    const [, union, branch] = /^(.*)(\/anyOf\/\d+)\/properties\/type$/.exec(error.schemaPath) ?? [];
    return union === undefined ? [] : [{ error, union, branch: `${union}${branch}` }];
  });
  const [first] = strangers;
  if (!first) return errors;
  const isBelow = ({ schemaPath }: ValidationError, path: string) =>
    schemaPath === path || schemaPath.startsWith(`${path}/`);
  const others = errors.filter((error) => !isBelow(error, first.union));
  const meant = errors.filter(
    (error) =>
      isBelow(error, `${first.union}/anyOf`) &&
      !strangers.some(({ branch }) => isBelow(error, branch)),
  );
  if (meant.length > 0) return [...others, ...meant];
  const allowedValues = strangers.flatMap(({ error }) => {
    const { allowedValue, allowedValues = [allowedValue] } = error.params as {
      allowedValue?: unknown;
      allowedValues?: unknown[];
    };
    return allowedValues;
  });
  return [...others, { ...first.error, keyword: "enum", params: { allowedValues } }];
}

/** The error that tells most: the summary of a union rather than each of its branches. */
function tellingOf(errors: readonly ValidationError[]): ValidationError | undefined {
  const [first] = errors;
  const union = errors.find(
    (error) => error.keyword === "anyOf" && error.instancePath === first?.instancePath,
  );
  const extra = errors.find((error) => error.keyword === "additionalProperties");
  if (union) return closestTo(union, errors);
  return (first?.keyword === "boolean" ? extra : first) ?? first;
}

/** Where a value is of the type of one branch of a union, what it breaks there says more. */
function closestTo(
  union: ValidationError,
  errors: readonly ValidationError[],
): ValidationError | undefined {
  const inside = errors.filter((error) => error.instancePath.startsWith(`${union.instancePath}/`));
  if (inside.length > 0) return tellingOf(inside);
  const ofType = ["anyOf", "type", "const", "enum"];
  return (
    errors.find(
      ({ keyword, instancePath }) =>
        instancePath === union.instancePath && !ofType.includes(keyword),
    ) ?? union
  );
}

/** What a union takes, from what each of its branches missed. */
function alternatives(errors: readonly ValidationError[], union: ValidationError): string {
  const branches = errors.filter((error) => error.instancePath === union.instancePath);
  const wanted = branches.flatMap((error) => {
    const { type, allowedValue } = error.params as { type?: string; allowedValue?: unknown };
    if (allowedValue !== undefined) return [JSON.stringify(allowedValue)];
    if (type !== undefined) return [A_VALUE_OF[type] ?? type];
    return [];
  });
  return [...new Set(wanted)].join(" or ") || "of another form";
}

/** `/updates/0/name` as `updates[0].name`. */
function fieldPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index ? `.${step}` : step))
    .join("");
}

/**
 * A query string as its schema means it: `name=`, `name[]=` and `name[0]=`, repeated or not, are
 * one list where the schema has an array; digits are a number where it has an integer.
 */
function readQuery(raw: unknown, schema: TSchema): Record<string, unknown> {
  const properties =
    (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
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
    const type = properties[name]?.type;
    query[name] = type === "array" ? values : readScalar(values.at(-1) ?? "", type);
  }
  return query;
}

function readScalar(text: string, type: string | undefined): unknown {
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text))
    return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
