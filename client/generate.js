/*
 * Writes what the client knows of the API from openapi.json: `npm run openapi`.
 * test/system/client-package.test.ts fails when the committed files are stale.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import openapiTypescript, { astToString } from "openapi-typescript";

const DOCUMENT = new URL("../openapi.json", import.meta.url);

const HEAD = "// Written by `npm run openapi` from openapi.json. Do not edit.\n\n";

/** The files by name, below `client/src`. */
export async function generatedFiles() {
  const document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
  const types = astToString(await openapiTypescript(withoutRefusals(structuredClone(document))));
  return {
    "schema.ts": `${HEAD}${types}`,
    "operations.ts": `${HEAD}${operationsOf(document)}`,
  };
}

/** The client throws refusals, so their types are left out, as are headers: most of the file. */
function withoutRefusals(document) {
  document.components.responses = {};
  document.components.headers = {};
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, text] of Object.entries(await generatedFiles())) {
    writeFileSync(new URL(`src/${name}`, import.meta.url), text);
  }
}
