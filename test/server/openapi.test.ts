/* The OpenAPI documents: complete, valid, and the same as the committed files. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { pascalCase } from "../../src/core/base/values/pascal-case.ts";
import { RAPPORT_VERSION } from "../../src/core/base/version.ts";
import { keyOf, pathsOf } from "../../src/core/http/endpoint.ts";
import { trackEndpoints } from "../../src/core/track/endpoints.ts";
import { ADMINISTERED, DOCUMENTED, REFERENCE, UNLISTED } from "../../src/server/assembled.ts";
import {
  DOCUMENT_FILES,
  openApiDocuments,
  textOfDocument,
} from "../../src/server/reference/documents.ts";
import { FIELD_NOTES } from "../../src/server/reference/field-notes.ts";
import { templateOf } from "../../src/server/reference/openapi.ts";
import { refusalsByStatus } from "../../src/server/reference/refusals.ts";
import { TAGS } from "../../src/server/reference/tags.ts";
import { startServer } from "../harness.ts";

const server = await startServer();
const documents: readonly any[] = await Promise.all(
  DOCUMENT_FILES.map(async (file) => (await server.send("GET", `/${file}`)).body),
);

const contracts = DOCUMENTED.map((endpoint) => endpoint.contract);

interface Operation {
  readonly key: string;
  readonly [member: string]: any;
}

const operationsOf = (document: any): Operation[] =>
  Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      key: `${method.toUpperCase()} ${path}`,
    })),
  );

const operations = documents.flatMap(operationsOf);

/** All components by kind and name: a name means the same in both documents. */
const components: Record<string, Record<string, any>> = {};
for (const [kind, named] of documents.flatMap((each) => Object.entries<any>(each.components))) {
  components[kind] = { ...components[kind], ...named };
}

/** A schema of the document with the components in the place of their references. */
function inlined(value: any): any {
  if (Array.isArray(value)) return value.map(inlined);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$ref === "string") return inlined(resolve(value));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inlined(each)]));
}

function resolve(value: any): any {
  if (typeof value.$ref !== "string") return value;
  const [, , kind, name] = value.$ref.split("/");
  return components[kind]?.[name];
}

/** Every body that the document shows, with its examples. */
const shown = operations.flatMap(({ key, requestBody, responses }) =>
  [
    ...(requestBody ? [["the body", requestBody] as const] : []),
    ...Object.entries<any>(responses),
  ].flatMap(([place, each]) =>
    Object.values<any>(resolve(each).content ?? {}).map((content) => ({
      place: `${key}: ${place}`,
      content,
    })),
  ),
);

const examplesOf = ({ example, examples = {} }: any): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values<any>(examples).map(({ value }) => value),
];

/** Fields of an inlined schema, at any depth, that have no description. */
function undescribed(schema: any, place: string): string[] {
  if (schema === null || typeof schema !== "object") return [];
  if (Array.isArray(schema)) return schema.flatMap((each) => undescribed(each, place));
  const { properties = {}, ...rest } = schema;
  return [
    ...Object.entries<any>(properties).flatMap(([name, member]) => [
      ...(member.description ? [] : [`${place}: ${name}`]),
      ...undescribed(member, place),
    ]),
    ...["items", "anyOf", "allOf", "additionalProperties"].flatMap((key) =>
      undescribed(rest[key], place),
    ),
  ];
}

/** The fields of an inlined schema, at any depth, as `name: description`. */
function fieldsOf(schema: any): string[] {
  if (schema === null || typeof schema !== "object") return [];
  const named = Object.entries<any>(schema.properties ?? {}).map(
    ([name, member]) => `${name}: ${member.description}`,
  );
  return [...named, ...Object.values(schema).flatMap(fieldsOf)];
}

/** The members of an example, at any depth, as `name: value`. */
function membersOf(example: any): string[] {
  if (example === null || typeof example !== "object") return [];
  return Object.entries(example).flatMap(([name, value]) => [
    `${name}: ${JSON.stringify(value)}`,
    ...membersOf(value),
  ]);
}

/** If an example has a placeholder for any text. */
function placeholdersIn(value: unknown, path: string): string[] {
  if (value === "text") return [path];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, each]) => placeholdersIn(each, `${path}.${key}`));
}

/** The components of resources whose name does not follow from the name of their list. */
const NAMES: Readonly<Record<string, string>> = {
  canvases: "Canvas",
  integrations: "DeclaredIntegration",
  mail_domains: "MailDomains",
  preference_centers: "DeclaredPreferenceCenter",
  scim_defaults: "ScimDefaults",
  settings: "WorkspaceSettings",
};

describe("GET /openapi.json and GET /openapi-admin.json", () => {
  test("GET /openapi.json returns a valid OpenAPI 3.1 document without authentication, and so does the admin API", async () => {
    for (const document of documents) {
      const validator = new Validator();
      const result = await validator.validate(structuredClone(document));
      assert.deepEqual(result.errors, undefined);
      assert.equal(result.valid, true);
      assert.equal(validator.version, "3.1");
    }
  });

  test("the OpenAPI documents list every served path under every spelling, each in one of them, and nothing else", () => {
    const declared = contracts.flatMap((each) =>
      pathsOf(each).map((path) => `${each.method} ${templateOf(path)}`),
    );
    assert.deepEqual(operations.map(({ key }) => key).sort(), declared.sort());
    for (const key of [
      "POST /users/track",
      "GET /canvases/translations",
      "PUT /canvas/translations",
      "GET /docs/{path}",
      "GET /dashboard/sign-in",
    ]) {
      assert.ok(declared.includes(key), key);
    }
    // Everything else that is served stands for calls that Rapport does not have.
    const others = UNLISTED.filter(({ contract }) => contract.name !== "captureCall");
    assert.deepEqual(others, []);
  });

  test("openapi.json has the public API, SCIM and the pages, openapi-admin.json all below /admin and the dashboard", () => {
    const [open = [], admin = []] = documents.map((each) => Object.keys(each.paths));
    const ofAdmin = /^\/(?:admin|dashboard)(?:\/|$)/;
    assert.deepEqual(
      open.filter((path) => ofAdmin.test(path)),
      [],
    );
    assert.deepEqual(
      admin.filter((path) => !ofAdmin.test(path)),
      [],
    );
    for (const path of ["/users/track", "/scim/v2/Users", "/preferences/{link}"]) {
      assert.ok(open.includes(path), path);
    }
  });

  test("the committed documents are current, and the server serves them as they are", async () => {
    const written = openApiDocuments(contracts, REFERENCE, RAPPORT_VERSION);
    for (const file of DOCUMENT_FILES) {
      const committed = readFileSync(join(packageRoot(), file), "utf8");
      assert.ok(committed === textOfDocument(written[file]), `${file} is stale: npm run openapi.`);
      assert.equal(await (await fetch(`${server.url}/${file}`)).text(), committed);
    }
  });

  test("a component means the same in both documents, and each document uses all of its own", () => {
    const [open, admin] = documents;
    for (const [name, schema] of Object.entries(open.components.schemas)) {
      if (name in admin.components.schemas) {
        assert.deepEqual(admin.components.schemas[name], schema, name);
      }
    }
    for (const document of documents) {
      const text = JSON.stringify(document);
      for (const [kind, named] of Object.entries<object>(document.components)) {
        for (const name of Object.keys(named)) {
          const isUsed =
            text.includes(`"#/components/${kind}/${name}"`) || text.includes(`"${name}":[]`);
          assert.ok(isUsed, `${kind} ${name}`);
        }
      }
    }
  });

  test("every resource is a named component: what the members of a response hold, and what is listed", () => {
    const isNamed = ({ $ref, anyOf }: any): boolean =>
      $ref !== undefined ||
      (anyOf?.every((each: any) => isNamed(each) || each.type === "null") ?? false);
    const hasFields = (schema: any): boolean =>
      schema.properties !== undefined || (schema.anyOf ?? []).some(hasFields);
    const unnamed = operations.flatMap(({ key, responses }) =>
      Object.entries<any>(responses)
        .filter(([status]) => status < "300")
        .flatMap(([, { content = {} }]) => Object.values<any>(content))
        .flatMap(({ schema }) => Object.entries<any>(schema.properties ?? {}))
        .filter(([, { items }]) => items && hasFields(items) && !isNamed(items))
        .map(([member]) => `${key}: ${member}`),
    );
    assert.deepEqual(
      unnamed,
      [],
      "Give the entries a name: `named` in core/base/values/schemas.ts.",
    );
    const resources = Object.values(ADMINISTERED).flat();
    const names = resources.map(({ key }) => NAMES[key] ?? pascalCase(key.replace(/s$/, "")));
    assert.deepEqual(
      names.filter((name) => !(name in (components.schemas ?? {}))),
      [],
    );
  });

  test("the OpenAPI document gives every operation a unique id, a known tag and a summary", () => {
    const names = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(names).size, names.length);
    const known = TAGS.map(({ name }) => name);
    for (const { key, operationId, tags, summary } of operations) {
      assert.match(operationId, /^[a-z][a-zA-Z0-9]+$/, key);
      assert.ok(known.includes(tags[0]), key);
      assert.match(summary, /^[A-Z].*\.$/, key);
    }
  });

  test("every operation keeps its name in clients", () => {
    const file = join(packageRoot(), "test", "server", "operation-names.txt");
    const known = readFileSync(file, "utf8").trim().split("\n").sort();
    const names = operations.map(({ key, operationId }) => `${operationId} ${key}`).sort();
    const advice =
      "Add new operations to test/server/operation-names.txt. Renaming one breaks clients.";
    assert.deepEqual(names, known, advice);
  });

  test("the OpenAPI document describes every parameter, with an example that its schema accepts", () => {
    for (const { key, parameters = [] } of operations) {
      for (const each of parameters.map(resolve)) {
        assert.ok(
          each.description,
          `${key}: describe ${each.name} in its schema or field-notes.ts`,
        );
        const schema = Compile(inlined(each.schema) as TSchema);
        assert.ok(schema.Check(each.example), `${key}: ${each.name}: ${each.example}`);
      }
    }
  });

  test("the OpenAPI document describes every field of every body", () => {
    const missing = shown.flatMap(({ place, content }) =>
      undescribed(inlined(content.schema), place),
    );
    const advice = "Describe it in its schema, or in src/server/reference/field-notes.ts.";
    assert.deepEqual([...new Set(missing)], [], advice);
  });

  test("every field note is shown at a field of its name, as its description or its example", () => {
    const parameters = operations.flatMap((each) => (each.parameters ?? []).map(resolve));
    const used = new Set([
      ...shown.flatMap(({ content }) => fieldsOf(inlined(content.schema))),
      ...shown.flatMap(({ content }) => examplesOf(content).flatMap(membersOf)),
      ...parameters.map(({ name, description }) => `${name}: ${description}`),
      ...parameters.map(({ name, example }) => `${name}: ${JSON.stringify(example)}`),
    ]);
    const unused = [...FIELD_NOTES].filter(
      ([name, { description, example }]) =>
        !used.has(`${name}: ${description}`) &&
        (example === undefined || !used.has(`${name}: ${JSON.stringify(example)}`)),
    );
    const names = unused.map(([name]) => name);
    assert.deepEqual(names, [], "Remove these from src/server/reference/field-notes.ts.");
  });

  test("the OpenAPI document shows every body with examples that its schema accepts", () => {
    for (const { place, content } of shown) {
      const examples = examplesOf(content);
      assert.ok(examples.length > 0, place);
      const schema = Compile(inlined(content.schema) as TSchema);
      for (const example of examples) {
        const [error] = schema.Errors(example);
        assert.equal(error, undefined, `${place}: ${JSON.stringify({ error, example })}`);
      }
    }
  });

  test("the examples in the OpenAPI document contain no placeholders", () => {
    const places = shown.flatMap(({ place, content }) =>
      examplesOf(content)
        .flatMap((example) => placeholdersIn(example, ""))
        .map((path) => `${place}: ${path}`),
    );
    const advice =
      "Give the field an example in its schema, or in src/server/reference/field-notes.ts.";
    assert.deepEqual(places, [], advice);
  });

  for (const contract of contracts) {
    test(`the OpenAPI document describes the access, input and responses of ${keyOf(contract)}`, () => {
      const template = templateOf(pathsOf(contract)[0] ?? "");
      const [operation] = operations.filter(({ key }) => key === `${contract.method} ${template}`);
      assert.ok(operation);
      assert.equal(operation.summary, contract.summary);
      const schemes = operation.security.flatMap(Object.keys);
      for (const scheme of schemes) assert.ok(scheme in (components.securitySchemes ?? {}));
      assert.equal(schemes.length > 0, contract.access.by !== "anybody");
      if (contract.access.by === "key") {
        assert.ok(operation.description.includes(contract.access.permission));
      }
      for (const other of pathsOf(contract).slice(1)) {
        assert.ok(operation.description.includes(templateOf(other)));
      }
      const parameters = (operation.parameters ?? []).map(resolve);
      const inPath = parameters.filter((each: any) => each.in === "path");
      assert.deepEqual(
        inPath.map((each: any) => [`{${each.name}}`, each.required]),
        (template.match(/\{\w+\}/g) ?? []).map((name) => [name, true]),
      );
      assert.equal(operation.requestBody !== undefined, contract.body !== undefined);
      const statuses = [...Object.keys(contract.replies), ...refusalsByStatus(contract).keys()];
      assert.deepEqual(
        Object.keys(operation.responses).sort(),
        [...new Set(statuses.map(String))].sort(),
      );
    });
  }

  test("the documented 400 response of POST /users/track matches its real refusals", async () => {
    const workspace = await server.workspace();
    const refusal = trackEndpoints[0]?.contract.replies[400];
    assert.ok(refusal);
    const validator = Compile(refusal);
    for (const body of [{}, { events: [{}] }, { events: Array(51).fill({}) }, { events: 5 }]) {
      const answer = await workspace.track(body);
      assert.equal(answer.status, 400);
      assert.deepEqual([...validator.Errors(answer.body)], []);
    }
  });
});
