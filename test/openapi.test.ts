/* What the server says about itself: the OpenAPI document and the page made from it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Compile } from "typebox/compile";
import { pathsOf } from "../src/http/endpoint.ts";
import { ENDPOINTS } from "../src/server/app.ts";
import { trackEndpoints } from "../src/track/endpoints.ts";
import { startServer } from "./harness.ts";

const server = await startServer();
const { body: document } = await server.send("GET", "/openapi.json");

const contracts = ENDPOINTS.map((endpoint) => endpoint.contract);

/** `POST /users/track` and so on, as the document and as the declarations have them. */
const documented = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
);
const declared = contracts.flatMap((contract) =>
  pathsOf(contract).map((path) => `${contract.method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`),
);

describe("GET /openapi.json", () => {
  test("is a valid OpenAPI 3.1 document, served to anybody", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    assert.deepEqual(result.errors, undefined);
    assert.equal(result.valid, true);
    assert.equal(validator.version, "3.1");
  });

  test("has every declared endpoint at every spelling of its path, and nothing else", () => {
    assert.deepEqual([...documented].sort(), [...declared].sort());
    assert.ok(documented.includes("POST /users/track"));
  });

  for (const contract of contracts) {
    for (const path of pathsOf(contract)) {
      test(`tells of ${contract.method} ${path} who may call it, what it takes and answers`, () => {
        const template = path.replaceAll(/:(\w+)/g, "{$1}");
        const operation = document.paths[template][contract.method.toLowerCase()];
        assert.equal(operation.summary, contract.summary);
        const schemes = operation.security.flatMap(Object.keys);
        for (const scheme of schemes) assert.ok(scheme in document.components.securitySchemes);
        assert.equal(schemes.length > 0, contract.access.by !== "anybody");
        if (contract.access.by === "key") {
          assert.ok(operation.description.includes(contract.access.permission));
        }
        const inPath = operation.parameters.filter((each: any) => each.in === "path");
        assert.deepEqual(
          inPath.map((each: any) => [`{${each.name}}`, each.required]),
          (template.match(/\{\w+\}/g) ?? []).map((name) => [name, true]),
        );
        assert.equal(operation.requestBody !== undefined, contract.body !== undefined);
        const statuses = [...Object.keys(contract.replies), "default"];
        assert.deepEqual(Object.keys(operation.responses).sort(), statuses.sort());
      });
    }
  }

  test("tells the truth about the refusals of track", async () => {
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
  test("is a page with every endpoint, without scripts, served to anybody", async () => {
    const { status, headers, body } = await server.send("GET", "/docs");
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^text\/html/);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.ok(!body.includes("<script"));
    for (const contract of contracts) {
      for (const path of pathsOf(contract)) assert.ok(body.includes(path), path);
    }
  });
});
