import type { Condition } from "../../../core/base/conditions.ts";
import type { Comparator } from "../../dashboard-users/feature.ts";
import { type ScimType, scimProblem } from "./problems.ts";

/*
 * Parses the filters of RFC 7644, 3.4.2.2, and the paths of 3.5.2 into trees; match.ts resolves their names.
 *
 * Microsoft's published test requests need three extensions: an unquoted value that is no other literal is a
 * string, literals match in any case, and `emails[type eq "work"].value eq "…"` compares a part of the values
 * that brackets pick.
 *
 * The npm packages that parse this language were tried: docs/decisions/scim-filters-and-pages.md.
 */

export type Literal = string | number | boolean | null;

export type Filter = Condition<FilterTest>;

export type FilterTest =
  | { readonly op: "pr"; readonly path: AttributePath }
  | { readonly op: Comparator; readonly path: AttributePath; readonly value: Literal }
  /** `emails[…]`: a single value meets the whole filter. */
  | { readonly op: "has"; readonly path: AttributePath; readonly filter: Filter };

export interface AttributePath {
  /** The URN before the name, in lower case. */
  readonly schema: string | undefined;
  /** As written: `name.givenName` is two. At least one. */
  readonly names: readonly string[];
}

/** The target of a PATCH operation: `emails[type eq "work"].value` has two steps. */
export interface TargetPath {
  readonly schema: string | undefined;
  readonly steps: readonly TargetStep[];
}

export interface TargetStep {
  readonly name: string;
  readonly filter?: Filter;
}

/** How many comparisons a filter may have, and how deeply its brackets may be nested. */
const MOST_COMPARISONS = 100;
const MOST_LEVELS = 20;

interface Token {
  readonly kind: "word" | "string" | "bracket" | "end";
  readonly text: string;
  readonly position: number;
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+)|($))/sy;

const NAME = /^[a-z$][\w$-]*$/i;

const OPERATORS: ReadonlySet<string> = new Set([
  "eq",
  "ne",
  "co",
  "sw",
  "ew",
  "gt",
  "ge",
  "lt",
  "le",
]);

/** @throws Problem with `invalidFilter` that names the position. */
export function parseFilter(text: string): Filter {
  const reader = tokenReader(text, "invalidFilter");
  const filter = readFilter(reader);
  if (reader.next().kind !== "end") throw reader.unexpected("'and' or 'or'");
  return filter;
}

/** More than any path needs; every name of a `value` may be a path. */
const LONGEST_PATH = 8_192;

/** @throws Problem with `invalidPath`; with `invalidFilter` for the part in square brackets. */
export function parsePath(text: string): TargetPath {
  const reader = tokenReader(text, "invalidPath");
  if (text.length > LONGEST_PATH) {
    throw reader.refuse(`it has more than ${LONGEST_PATH} characters`);
  }
  const { schema, names } = readNames(reader);
  const steps: TargetStep[] = names.map((name) => ({ name }));
  while (reader.next().text === "[") {
    reader.take();
    reader.scimType = "invalidFilter";
    const filter = readFilter(reader);
    closeWith(reader, "]");
    reader.scimType = "invalidPath";
    steps.push({ ...(steps.pop() as TargetStep), filter });
    // What follows a bracket begins with a dot: `].value`.
    const after = reader.next();
    if (after.kind !== "word" || !after.text.startsWith(".")) break;
    reader.take();
    for (const name of after.text.slice(1).split("."))
      steps.push({ name: checkName(reader, name) });
  }
  if (reader.next().kind !== "end") throw reader.unexpected("the end of the path");
  return { schema, steps };
}

interface TokenReader {
  scimType: ScimType;
  comparisons: number;
  levels: number;
  /** The next token, without taking it. */
  next(): Token;
  take(): Token;
  /** A refusal that names a token, by default the next one, and what was `wanted` instead. */
  unexpected(wanted: string, token?: Token): Error;
  refuse(sentence: string): Error;
}

function tokenReader(text: string, scimType: ScimType): TokenReader {
  let position = 0;
  let lookahead: Token | undefined;

  function read(): Token {
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(text);
    if (!match) throw self.refuse(`A string that begins at position ${position} has no end`);
    position = TOKEN.lastIndex;
    const [, string, bracket, word] = match;
    const token = string ?? bracket ?? word ?? "";
    const kind = string ? "string" : bracket ? "bracket" : word ? "word" : "end";
    return { kind, text: token, position: position - token.length };
  }

  const self: TokenReader = {
    scimType,
    comparisons: 0,
    levels: 0,
    next() {
      lookahead ??= read();
      return lookahead;
    },
    take() {
      const token = self.next();
      lookahead = undefined;
      return token;
    },
    unexpected(wanted, token = self.next()) {
      const found = token.kind === "end" ? "the end" : `'${token.text}'`;
      return self.refuse(`${wanted} was expected at position ${token.position}, not ${found}`);
    },
    refuse(sentence) {
      const part = self.scimType === "invalidPath" ? "path" : "filter";
      return scimProblem(self.scimType, `The ${part} cannot be read: ${sentence}.`);
    },
  };
  return self;
}

const isWord = (token: Token, word: string): boolean =>
  token.kind === "word" && token.text.toLowerCase() === word;

/** `and` binds closer than `or`. */
const readFilter = (reader: TokenReader): Filter =>
  readChain(reader, "or", () => readChain(reader, "and", () => readTerm(reader)));

function readChain(reader: TokenReader, op: "and" | "or", readOne: () => Filter): Filter {
  const first = readOne();
  const conditions = [first];
  while (isWord(reader.next(), op)) {
    reader.take();
    conditions.push(readOne());
  }
  return conditions.length === 1 ? first : { op, conditions };
}

function readTerm(reader: TokenReader): Filter {
  const token = reader.next();
  if (token.text === "(" && token.kind === "bracket") return readGroup(reader);
  if (isWord(token, "not")) {
    reader.take();
    return { op: "not", condition: readGroup(reader) };
  }
  return readComparison(reader);
}

function readGroup(reader: TokenReader): Filter {
  if (reader.next().text !== "(") throw reader.unexpected("'('");
  reader.take();
  const filter = nested(reader, () => readFilter(reader));
  closeWith(reader, ")");
  return filter;
}

function nested<Result>(reader: TokenReader, read: () => Result): Result {
  if (++reader.levels > MOST_LEVELS) {
    throw reader.refuse(`its brackets are nested more than ${MOST_LEVELS} levels deep`);
  }
  const result = read();
  reader.levels--;
  return result;
}

function closeWith(reader: TokenReader, bracket: string): void {
  if (reader.next().text !== bracket) throw reader.unexpected(`'${bracket}'`);
  reader.take();
}

function readComparison(reader: TokenReader): Filter {
  if (++reader.comparisons > MOST_COMPARISONS) {
    throw reader.refuse(`it has more than ${MOST_COMPARISONS} comparisons`);
  }
  const path = readNames(reader);
  const token = reader.take();
  if (token.text === "[") {
    const filter = nested(reader, () => readFilter(reader));
    closeWith(reader, "]");
    const after = reader.next();
    if (after.kind !== "word" || !after.text.startsWith(".")) return { op: "has", path, filter };
    reader.take();
    const names = after.text.slice(1).split(".");
    const part = { schema: undefined, names: names.map((name) => checkName(reader, name)) };
    const test = readTest(reader, part, reader.take());
    return { op: "has", path, filter: { op: "and", conditions: [filter, test] } };
  }
  return readTest(reader, path, token);
}

function readTest(reader: TokenReader, path: AttributePath, operator: Token): Filter {
  const op = operator.text.toLowerCase();
  if (op === "pr") return { op, path };
  if (operator.kind !== "word" || !OPERATORS.has(op)) {
    throw reader.unexpected("an operator", operator);
  }
  return { op: op as Comparator, path, value: readLiteral(reader) };
}

/** `urn:ietf:params:scim:schemas:core:2.0:User:name.givenName`: a URN ends at the last colon. */
function readNames(reader: TokenReader): AttributePath {
  const token = reader.take();
  if (token.kind !== "word") throw reader.unexpected("the name of an attribute", token);
  const colon = token.text.lastIndexOf(":");
  const schema = colon < 0 ? undefined : token.text.slice(0, colon).toLowerCase();
  const names = token.text.slice(colon + 1).split(".");
  return { schema, names: names.map((name) => checkName(reader, name)) };
}

function checkName(reader: TokenReader, name: string): string {
  if (!NAME.test(name)) throw reader.refuse(`'${name}' is not an attribute name`);
  return name;
}

function readLiteral(reader: TokenReader): Literal {
  const token = reader.take();
  if (token.kind === "string") return parseLiteral(token.text) ?? refuseString(reader, token);
  if (token.kind !== "word") throw reader.unexpected("a value", token);
  if (token.text.startsWith("'")) throw reader.unexpected("a string in double quotes", token);
  const literal = parseLiteral(token.text.toLowerCase());
  return literal === undefined ? token.text : literal;
}

function refuseString(reader: TokenReader, token: Token): never {
  throw reader.refuse(`the string at position ${token.position} is not a JSON string`);
}

/** Undefined if it is no JSON literal. */
function parseLiteral(text: string): Literal | undefined {
  if (text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Literal;
  } catch {
    return undefined;
  }
}
