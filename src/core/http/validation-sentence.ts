import { nearestTo } from "../base/values/nearest.ts";
import { ruleOfPattern } from "../base/values/schemas.ts";

/* Turns the errors of a schema into one sentence in plain English. */

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

/**
 * One sentence that names the field as a caller would write it: `'updates[0].name' must be …`.
 *
 * @param value the checked value; with it, the sentence can suggest the correct spelling of a word.
 */
export function sentenceOf(all: readonly ValidationError[], part: string, value?: unknown): string {
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
    return `${subject} has an unknown key: '${additionalProperties.join("', '")}'`;
  }
  if (error.keyword === "type" && type) return `${subject} must be ${A_VALUE_OF[type] ?? type}`;
  if (error.keyword === "enum" && allowedValues) {
    return `${subject} must be ${oneOf(allowedValues, memberAt(value, error.instancePath))}`;
  }
  if (error.keyword === "anyOf") return `${subject} must be ${alternatives(errors, error)}`;
  return `${subject} ${ruleOf(error)}`;
}

/** A longer list of values is left out if one of them is similar. */
const MOST_LISTED = 16;

function oneOf(allowed: readonly unknown[], given: unknown): string {
  const words = allowed.filter((each) => typeof each === "string");
  const meant = typeof given === "string" ? nearestTo(given, words) : undefined;
  if (meant === undefined) return `one of ${allowed.join(", ")}`;
  const list = allowed.length > MOST_LISTED ? `${allowed.length} values` : allowed.join(", ");
  return `one of ${list}; did you mean '${meant}'?`;
}

function memberAt(value: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)?.[step], value);
}

/** One sentence for each faulty item in the body's lists. */
export function faultyItems(errors: readonly ValidationError[]) {
  const items = new Map<string, ValidationError[]>();
  for (const error of errors) {
    const [item] = /^\/[^/]+\/\d+(?=\/|$)/.exec(error.instancePath) ?? [];
    if (item === undefined) continue;
    const ofItem = items.get(item) ?? [];
    items.set(item, ofItem);
    ofItem.push(error);
  }
  return [...items].map(([item, ofItem]) => {
    const [, list = "", index] = item.split("/");
    return { message: sentenceOf(ofItem, "body"), input_array: list, index: Number(index) };
  });
}

/** The member of the body that should be a list and is none. */
export function noList([error]: readonly ValidationError[]): string | undefined {
  const { type } = (error?.params ?? {}) as { type?: string };
  return type === "array" ? /^\/([^/]+)$/.exec(error?.instancePath ?? "")?.[1] : undefined;
}

export interface PlacedSentence {
  /** A JSON pointer. */
  readonly instancePath: string;
  readonly sentence: string;
}

/** One sentence for each fault, in the order of the schema. */
export function sentencesOf(
  all: readonly ValidationError[],
  part: string,
  value?: unknown,
): PlacedSentence[] {
  const unions = all.filter(({ keyword }) => keyword === "anyOf").map((each) => each.instancePath);
  const groups = new Map<string, ValidationError[]>();
  for (const error of all) {
    const key = faultOf(error, unions);
    groups.set(key, [...(groups.get(key) ?? []), error]);
  }
  return [...groups.values()].map((errors) => ({
    instancePath: errors[0]?.instancePath ?? "",
    sentence: sentenceOf(errors, part, value),
  }));
}

/** Errors with the same key are one fault: the branches of a union, or the unknown keys of an object. */
function faultOf({ instancePath, keyword }: ValidationError, unions: readonly string[]): string {
  const isAtOrBelow = (path: string) => `${instancePath}/`.startsWith(`${path}/`);
  const union = unions.filter(isAtOrBelow).sort((one, other) => one.length - other.length)[0];
  if (union !== undefined) return `${union} union`;
  if (keyword === "additionalProperties") return `${instancePath} unknown`;
  if (keyword === "boolean") return `${instancePath.replace(/\/[^/]*$/, "")} unknown`;
  return `${instancePath} ${keyword}`;
}

/** The rule about a size or a range that a value breaks. */
function ruleOf({ keyword, params, message }: ValidationError): string {
  const { limit = 0 } = params as { limit?: number };
  switch (keyword) {
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
    case "minItems":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} items`;
    case "minProperties":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} members`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "maxItems":
      return `must have at most ${limit} items`;
    case "maxProperties":
      return `must have at most ${limit} members`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "pattern":
      return ruleOfPattern(String((params as { pattern?: unknown }).pattern));
    default:
      return message;
  }
}

/**
 * For a union of objects discriminated by `type`, only the errors of the intended branch; if there
 * is none, the existing types.
 */
function ofMeantBranches(errors: readonly ValidationError[]): readonly ValidationError[] {
  const strangers = errors.flatMap((error) => {
    const [, union, branch] = /^(.*)(\/anyOf\/\d+)\/properties\/type$/.exec(error.schemaPath) ?? [];
    return union === undefined ? [] : [{ error, union, branch: `${union}${branch}` }];
  });
  const [first] = strangers;
  const untyped = errors.find(isWithoutType);
  if (!first) {
    if (!untyped) return errors;
    const branch = branchWithoutType(errors);
    return branch ?? [{ ...untyped, params: { requiredProperties: ["type"] } }];
  }
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

/** The errors of the one branch of a union that needs no `type` and has all that it requires, if there is one. */
function branchWithoutType(errors: readonly ValidationError[]): ValidationError[] | undefined {
  const branchOf = ({ schemaPath }: ValidationError): string | undefined =>
    /^.*?\/anyOf\/\d+(?=\/|$)/.exec(schemaPath)?.[0];
  const incomplete = new Set(
    errors
      .filter(
        ({ keyword, schemaPath }) =>
          keyword === "required" && branchOf({ schemaPath } as ValidationError) === schemaPath,
      )
      .map(branchOf),
  );
  const complete = errors.filter((error) => {
    const branch = branchOf(error);
    return branch !== undefined && !incomplete.has(branch);
  });
  return complete.length > 0 ? complete : undefined;
}

/** Whether the member that distinguishes the branches of a union is missing. */
const isWithoutType = ({ keyword, schemaPath, params }: ValidationError): boolean =>
  keyword === "required" &&
  /\/anyOf\/\d+(?:\/|$)/.test(schemaPath) &&
  ((params as { requiredProperties?: string[] }).requiredProperties ?? []).includes("type");

/** The most helpful error: the summary of a union rather than each of its branches. */
function tellingOf(errors: readonly ValidationError[]): ValidationError | undefined {
  const [first] = errors;
  const union = errors.find(
    (error) => error.keyword === "anyOf" && error.instancePath === first?.instancePath,
  );
  const extra = errors.find((error) => error.keyword === "additionalProperties");
  if (union) return closestTo(union, errors);
  return (first?.keyword === "boolean" ? extra : first) ?? first;
}

/** If a value has the type of one branch of a union, that branch's error says more. */
function closestTo(
  union: ValidationError,
  errors: readonly ValidationError[],
): ValidationError | undefined {
  const inside = errors.filter((error) => error.instancePath.startsWith(`${union.instancePath}/`));
  if (inside.length > 0) return tellingOf(inside);
  // Null only resets it: the values are what the caller looks for.
  const values = errors.filter(
    (error) =>
      error !== union &&
      error.instancePath === union.instancePath &&
      (error.params as { type?: string }).type !== "null",
  );
  if (values.length === 1 && values[0]?.keyword === "enum") return values[0];
  const ofType = ["anyOf", "type", "const", "enum"];
  return (
    errors.find(
      ({ keyword, instancePath }) =>
        instancePath === union.instancePath && !ofType.includes(keyword),
    ) ?? union
  );
}

/** The accepted values of a union, from the errors of its branches. */
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
