/*
 * Every endpoint with every permission that it does not require. In every-endpoint.test.ts keys with every permission but the
 * required one show the same for all of them at once.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PERMISSIONS, type Permission } from "../../../../src/core/base/context/permissions.ts";
import { pathsOf } from "../../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../../src/server/assembled.ts";
import { type Answer, startServer } from "../../../harness.ts";

const server = await startServer();
const keyFor = (permission: string) => `the-only-permission-is-${permission}`;
await server.workspace({
  api_keys: PERMISSIONS.map((one) => ({ name: one, key: keyFor(one), permissions: [one] })),
});

test("a key with a single permission gets 403 from every endpoint that requires another one", async () => {
  for (const { contract } of ENDPOINTS) {
    const { access, method } = contract;
    if (access.by !== "key") continue;
    for (const path of pathsOf(contract)) {
      const others: readonly Permission[] = PERMISSIONS.filter(
        (each) => each !== access.permission,
      );
      for (const another of others) {
        const body = method === "GET" ? undefined : {};
        const answer: Answer<any> = await server.send(method, path.replaceAll(/:\w+/g, "x"), body, {
          key: keyFor(another),
        });
        assert.equal(answer.status, 403, `${another}: ${method} ${path}`);
        assert.match(JSON.stringify(answer.body), /lacks the permission/);
      }
    }
  }
});
