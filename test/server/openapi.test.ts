/* The OpenAPI document: complete, valid, and the same as the committed file. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { OPERATIONS } from "../../client/src/operations.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { keyOf, pathsOf } from "../../src/core/http/endpoint.ts";
import { trackEndpoints } from "../../src/core/track/endpoints.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";
import { FIELD_NOTES } from "../../src/server/reference/field-notes.ts";
import { GUIDES } from "../../src/server/reference/guides.ts";
import { refusalsByStatus } from "../../src/server/reference/refusals.ts";
import { TAGS } from "../../src/server/reference/tags.ts";
import { startServer } from "../harness.ts";

const server = await startServer();
const { body: document } = await server.send("GET", "/openapi.json");

const contracts = ENDPOINTS.map((endpoint) => endpoint.contract);

const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");

interface Operation {
  readonly key: string;
  readonly [member: string]: any;
}

const operations: Operation[] = Object.entries<Record<string, any>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      key: `${method.toUpperCase()} ${path}`,
    })),
);

/** A schema of the document with the components in the place of their references. */
function inlined(value: any): any {
  if (Array.isArray(value)) return value.map(inlined);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$ref === "string") return inlined(resolve(value));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inlined(each)]));
}

function resolve(value: any): any {
  if (typeof value.$ref !== "string") return value;
  const steps = value.$ref.slice(2).split("/");
  return steps.reduce((at: any, step: string) => at[step], document);
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

describe("GET /openapi.json", () => {
  test("GET /openapi.json returns a valid OpenAPI 3.1 document without authentication", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    assert.deepEqual(result.errors, undefined);
    assert.equal(result.valid, true);
    assert.equal(validator.version, "3.1");
  });

  test("the OpenAPI document lists every endpoint under every spelling of its path, and nothing else", () => {
    const declared = contracts.flatMap((each) =>
      pathsOf(each).map((path) => `${each.method} ${templateOf(path)}`),
    );
    assert.deepEqual(operations.map(({ key }) => key).sort(), declared.sort());
    for (const key of [
      "POST /users/track",
      "GET /canvases/translations",
      "PUT /canvas/translations",
    ]) {
      assert.ok(declared.includes(key), key);
    }
  });

  test("the committed openapi.json is the document that the server serves", () => {
    const committed = JSON.parse(readFileSync(join(packageRoot(), "openapi.json"), "utf8"));
    assert.deepEqual(committed, document, "openapi.json is stale. Run `npm run openapi`.");
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
      const operation = document.paths[template][contract.method.toLowerCase()];
      assert.equal(operation.summary, contract.summary);
      const schemes = operation.security.flatMap(Object.keys);
      for (const scheme of schemes) assert.ok(scheme in document.components.securitySchemes);
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

describe("GET /docs", () => {
  test("GET /docs serves a page without a key, and the page loads nothing from other hosts", async () => {
    const { status, headers, body } = await server.send("GET", "/docs");
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^text\/html/);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'; script-src 'self';/);
    assert.match(policy, /connect-src 'self'/);
    assert.doesNotMatch(body + policy, /https?:/);
  });

  test("GET /docs shows the OpenAPI document with a TypeScript sample for each operation, and the guides", async () => {
    const { body } = await server.send("GET", "/docs/openapi.json");
    const shownOperations = Object.values<any>(body.paths).flatMap((each) =>
      Object.values<any>(each),
    );
    assert.equal(shownOperations.length, operations.length);
    for (const { operationId, "x-codeSamples": samples } of shownOperations) {
      if (!(operationId in OPERATIONS)) continue;
      const [, , credential] = OPERATIONS[operationId as keyof typeof OPERATIONS];
      const place = { adminToken: "admin.", scimToken: "scim.", apiKey: "", none: "" }[credential];
      assert.ok(samples[0].source.includes(`rapport.${place}${operationId}(`), operationId);
    }
    const samples = shownOperations.filter((each) => each["x-codeSamples"]);
    assert.equal(samples.length, Object.keys(OPERATIONS).length);
    for (const name of GUIDES) {
      const path = join(packageRoot(), "docs", `${name}.md`);
      if (!existsSync(path)) continue;
      const [, title] = /^(# .*)$/m.exec(readFileSync(path, "utf8")) ?? [];
      assert.ok(title && body.info.description.includes(title), name);
    }
    assert.doesNotMatch(body.info.description, /\]\([\w./-]+\.md/);
  });

  test("the root address of the server opens a page that links to the reference", async () => {
    const { status, body } = await server.send("GET", "/");
    assert.equal(status, 200);
    assert.ok(body.includes('href="/docs"'));
  });
});
