import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { DOCUMENT_FILES } from "../../src/server/reference/documents.ts";

/* The calls of both OpenAPI documents. */

export type Json = Readonly<Record<string, unknown>>;

export interface Schema extends Json {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly summary: string; readonly value: unknown }>
  >;
}

type Contents = Readonly<Record<string, Content>>;

interface Response {
  readonly description: string;
  readonly content?: Contents;
}

export interface Call {
  readonly id: string;
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** The first way to be allowed. */
  readonly credential: "apiKey" | "scimToken" | "adminToken" | "session" | "none";
  readonly parameters: readonly Parameter[];
  readonly body: Contents | undefined;
  readonly responses: Readonly<Record<string, Response>>;
  /** Whether rapport-client has it. */
  readonly isInClient: boolean;
}

interface Reference {
  readonly $ref?: string;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Json[];
  readonly parameters?: readonly (Parameter & Reference)[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, Response & Reference>>;
  readonly "x-not-in-client"?: true;
}

interface Document {
  readonly info: { readonly description: string };
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Json>>;
}

export interface Tag {
  readonly name: string;
  readonly description: string;
}

const documents: readonly Document[] = DOCUMENT_FILES.map((file) =>
  JSON.parse(readFileSync(join(packageRoot(), file), "utf8")),
);

/** What the components of a kind are; a name means the same in both documents. */
const componentsOf = (kind: string): Json =>
  Object.assign({}, ...documents.map(({ components }) => components[kind] ?? {}));

const KINDS = ["schemas", "parameters", "responses"];
const components = new Map(KINDS.map((kind) => [kind, componentsOf(kind)]));

/** What a reference stands for, or the value itself. */
export function resolve<Value extends object>(value: Value & Reference): Value {
  if (value.$ref === undefined) return value;
  const [, , kind = "", name = ""] = value.$ref.split("/");
  return components.get(kind)?.[name] as Value;
}

/** The introduction of the public document, as Markdown. */
export const INTRODUCTION = documents[0]?.info.description ?? "";

/** Other spellings of a path are told by the call with the first one. */
const isOtherSpelling = (description: string): boolean => description.startsWith("The same as `");

export const CALLS: readonly Call[] = documents.flatMap(({ paths }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { description }]) => !isOtherSpelling(description ?? ""))
      .map(([method, operation]) => callOf(method, path, operation)),
  ),
);

function callOf(method: string, path: string, operation: Operation): Call {
  const responses = Object.entries(operation.responses);
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag: operation.tags[0] ?? "",
    summary: operation.summary,
    description: operation.description ?? "",
    credential: (operation.security.flatMap(Object.keys)[0] ?? "none") as Call["credential"],
    parameters: (operation.parameters ?? []).map(resolve),
    body: operation.requestBody?.content,
    responses: Object.fromEntries(responses.map(([status, each]) => [status, resolve(each)])),
    isInClient: !operation["x-not-in-client"],
  };
}

const used = new Set(CALLS.map(({ tag }) => tag));

/** In the order of the reference. */
export const TAGS: readonly Tag[] = [
  ...new Map(documents.flatMap(({ tags }) => tags).map((tag) => [tag.name, tag])).values(),
].filter(({ name }) => used.has(name));

export const callPath = ({ id }: Pick<Call, "id">): string => `/docs/calls/${id}`;

/** The example of a body or a response. */
export const exampleOf = ({ example, examples }: Content): unknown =>
  example ?? Object.values(examples ?? {})[0]?.value;
