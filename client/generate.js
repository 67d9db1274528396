/*
 * Writes what the client knows of the API from openapi.json and openapi-admin.json, before the compiler runs: `npm run build`.
 * It is JavaScript, because nothing is compiled by then. The files are not committed; they name what they were written from,
 * and are written again only if that has changed.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

const DOCUMENTS = ["../openapi.json", "../openapi-admin.json"];

const print = createHash("sha256");
for (const path of [...DOCUMENTS, "generate.js", "package.json"]) print.update(read(path));
const HEAD = `// Written by the build from the OpenAPI documents: ${print.digest("base64url")}\n\n`;

const isCurrent = (path) =>
  existsSync(new URL(path, import.meta.url)) && read(path).startsWith(HEAD);

if (!["src/schema.ts", "src/operations.ts"].every(isCurrent)) {
  const document = joined(DOCUMENTS.map((path) => JSON.parse(read(path))));
  const { default: openapiTypescript, astToString } = await import("openapi-typescript");
  write("src/operations.ts", operationsOf(document));
  write("src/schema.ts", astToString(await openapiTypescript(withoutRefusals(document))));
}

function write(path, text) {
  writeFileSync(new URL(path, import.meta.url), HEAD + text);
}

/** One document with the paths and the components of all. @throws Error if a name means two things. */
function joined(documents) {
  const [first] = documents;
  return {
    ...first,
    paths: joinedMembers(documents.map(({ paths }) => paths)),
    components: Object.fromEntries(
      ["schemas", "parameters"].map((kind) => [
        kind,
        joinedMembers(documents.map(({ components }) => components[kind] ?? {})),
      ]),
    ),
  };
}

function joinedMembers(all) {
  const members = {};
  for (const [name, value] of all.flatMap(Object.entries)) {
    if (name in members && JSON.stringify(members[name]) !== JSON.stringify(value)) {
      throw new Error(`${name} differs between the OpenAPI documents.`);
    }
    members[name] = value;
  }
  return members;
}

/** The client throws refusals, so their types are left out, as are headers: most of the file. */
function withoutRefusals(document) {
  for (const operation of Object.values(document.paths).flatMap(Object.values)) {
    const successes = Object.entries(operation.responses).filter(([status]) => status < 400);
    operation.responses = Object.fromEntries(
      successes.map(([status, { headers: _, ...response }]) => [status, response]),
    );
  }
  return document;
}

function operationsOf({ paths }) {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => !operation["x-not-in-client"])
      .map(([method, { operationId, security, parameters = [] }]) => {
        const [scheme = "none"] = security.flatMap(Object.keys);
        const isSafe = parameters.some(({ $ref }) => $ref?.endsWith("/IdempotencyKey"));
        return `  ${operationId}: ["${method}", "${path}", "${scheme}", ${isSafe}],`;
      }),
  );
  return `/** Method, path, what it needs, and whether an Idempotency-Key makes it safe to repeat. */
export const OPERATIONS = {
${lines.join("\n")}
} as const;
`;
}
