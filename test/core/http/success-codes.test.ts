/* The status of each call's success. docs/conformance.md#success-codes */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Contract, pathsOf } from "../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/server/assembled.ts";
import { documentationEndpoints } from "../../../src/server/reference/documentation.ts";
import { startOwnServer } from "../../harness.ts";
import { pathOf, sampleRequests, sampleWorkspace } from "../../sample-requests.ts";

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

describe("POST endpoints for users, email states and subscriptions succeed with 201", () => {
  const paths = [
    "/users/track",
    "/users/alias/new",
    "/users/identify",
    "/users/delete",
    "/email/status",
    "/subscription/status/set",
    "/v2/subscription/status/set",
    "/users/export/ids",
  ];
  for (const path of paths) {
    test(path, async () => {
      const sample = await samples[`POST ${path}`]?.();
      assert.ok(sample);
      const declaredPath = pathOf(path, workspace.name, sample);
      const { status, body } = await workspace.call("POST", declaredPath, sample.body);
      assert.equal(status, 201);
      assert.equal(body.message, "success");
    });
  }
});

describe("every GET and PUT endpoint succeeds only with 200", () => {
  const declared = ENDPOINTS.map(({ contract }) => contract);
  const contracts: readonly Contract[] = [
    ...declared,
    ...documentationEndpoints().map(({ contract }) => contract),
  ];
  for (const contract of contracts) {
    const { method, replies } = contract;
    if (method !== "GET" && method !== "PUT") continue;
    // The harness refuses an answer with a success that is not declared, in all tests.
    test(`${method} ${pathsOf(contract)[0]} declares 200 as its only success`, () => {
      const successes = Object.keys(replies).filter((status) => !/^[34]/.test(status));
      assert.deepEqual(successes, ["200"]);
    });
  }
});
