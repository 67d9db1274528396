import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRateLimits } from "../../src/core/admin/access/rate-limits.ts";
import { systemClock } from "../../src/core/base/clock.ts";
import type { Database } from "../../src/core/database/database.ts";
import type { Caller } from "../../src/core/http/callers.ts";
import { byScimToken } from "../../src/core/http/endpoint.ts";
import { startOwnServer } from "../harness.ts";
import { assertRefused, assertScim, declare, newUser, scimClient, TOKEN } from "../scim-client.ts";

const server = await startOwnServer();
const WAIVED = {
  name: "waived",
  token: "waived-secret",
  service_origin: "x",
  require_origin: false,
};
await declare(server, { scim_tokens: [TOKEN, WAIVED] });
const scim = scimClient(server);

/** Every SCIM endpoint, with a body that would do. */
const ENDPOINTS: [string, string, unknown?][] = [
  ["POST", "/scim/v2/Users", newUser()],
  ["GET", "/scim/v2/Users"],
  ["GET", "/scim/v2/Users/1"],
  ["PUT", "/scim/v2/Users/1", newUser()],
  ["PATCH", "/scim/v2/Users/1", {}],
  ["DELETE", "/scim/v2/Users/1"],
  ["GET", "/scim/v2/ServiceProviderConfig"],
  ["GET", "/scim/v2/ResourceTypes"],
  ["GET", "/scim/v2/ResourceTypes/User"],
  ["GET", "/scim/v2/Schemas"],
  ["GET", "/scim/v2/Schemas/urn:ietf:params:scim:schemas:core:2.0:User"],
];

const everywhere = async (
  options: Parameters<typeof server.send>[3],
  check: (answer: Awaited<ReturnType<typeof server.send>>, what: string) => void,
) => {
  for (const [method, path, body] of ENDPOINTS) {
    check(await server.send(method, path, body, options), `${method} ${path}`);
  }
};

describe("a SCIM endpoint", () => {
  const origin = { "x-request-origin": TOKEN.service_origin };

  test("every SCIM endpoint accepts a SCIM token with its service origin", async () => {
    await everywhere({ key: TOKEN.token, headers: origin }, ({ status }, what) => {
      assert.ok(status < 300 || status === 404 || status === 400, what);
    });
  });

  test("every SCIM endpoint refuses a missing or unknown token with 401", async () => {
    for (const key of [null, "", "nobody's", TOKEN.service_origin]) {
      await everywhere({ key, headers: origin }, (answer, what) => {
        assertScim(answer);
        const none = ": the request has none. Send it as 'Authorization: Bearer TOKEN'";
        const detail = `Invalid SCIM token${key ? "" : none}`;
        assert.deepEqual([answer.status, answer.body.detail], [401, detail], what);
      });
    }
  });

  test("every SCIM endpoint refuses an API key and the admin token in place of a SCIM token", async () => {
    for (const key of ["dev-key", server.adminToken]) {
      await everywhere({ key, headers: origin }, ({ status }, what) =>
        assert.equal(status, 401, what),
      );
    }
  });

  test("every SCIM endpoint refuses a missing or different X-Request-Origin with 403", async () => {
    for (const headers of [{}, { "x-request-origin": "" }, { "x-request-origin": "acme.exampl" }]) {
      await everywhere({ key: TOKEN.token, headers }, (answer, what) => {
        assertScim(answer);
        assert.equal(answer.status, 403, what);
      });
    }
  });

  test("a SCIM endpoint does not require X-Request-Origin if the token waives it", async () => {
    for (const headers of [{}, { "x-request-origin": "elsewhere" }]) {
      await everywhere({ key: WAIVED.token, headers }, ({ status }, what) =>
        assert.ok(![401, 403].includes(status), what),
      );
    }
  });

  test("every SCIM response, including refusals, forbids caching and content sniffing", async () => {
    const answers = [
      await scim.users("POST", "", newUser()),
      await scim.users("GET", "/nobody"),
      await scim.call("GET", "/scim/v2/Schemas"),
      await scim.call("GET", "/scim/v2/Users", undefined, { key: null }),
    ];
    for (const { headers } of answers) {
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
    }
  });

  test("a SCIM token cannot be used as an API key", async () => {
    const answer = await server.send("POST", "/users/track", {}, { key: TOKEN.token });
    assert.equal(answer.status, 401);
  });
});

describe("an error under /scim", () => {
  const cases: [string, string, string, number, string?][] = [
    ["an unknown path", "GET", "/scim/v2/Nothing", 404],
    ["a path of another version", "GET", "/scim/v1/Users", 404],
    ["a method that a path does not take", "POST", "/scim/v2/Schemas", 405],
    ["an unknown schema", "GET", "/scim/v2/Schemas/urn:x", 404],
    ["an unknown resource type", "GET", "/scim/v2/ResourceTypes/Group", 404],
    ["a URL that is none", "GET", "/scim/v2/Users/%", 400, "invalidSyntax"],
    ["an id that is too long", "GET", `/scim/v2/Users/${"x".repeat(200)}`, 404],
    ["a filter on what cannot be filtered", "GET", "/scim/v2/Schemas?filter=id%20pr", 403],
  ];
  for (const [what, method, path, status, scimType] of cases) {
    test(`an error under /scim has the SCIM error schema: ${what}`, async () => {
      assertRefused(await scim.call(method, path), status, scimType);
    });
  }

  test("a SCIM request with an unreadable body gets an error with the SCIM error schema", async () => {
    const post = (raw: string, type = "application/json") =>
      scim.call("POST", "/scim/v2/Users", undefined, { raw, headers: { "content-type": type } });
    assertRefused(await post("{"), 400, "invalidSyntax");
    assertRefused(await post("[]"), 400, "invalidSyntax");
    assertRefused(await post("null"), 400, "invalidSyntax");
    assertRefused(await post(""), 400, "invalidSyntax");
    assertRefused(await post("{}", "text/plain"), 415);
    assertRefused(await post(`"${"x".repeat(4_194_304)}"`), 413);
    assertRefused(
      await post(`{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`),
      400,
      "invalidValue",
    );
  });

  test("an error outside /scim does not have the SCIM error schema", async () => {
    const answer = await server.send("GET", "/scimitar", undefined, {});
    assert.deepEqual([answer.status, Object.keys(answer.body)], [404, ["message"]]);
  });
});

describe("the SCIM rate limit", () => {
  test("all SCIM endpoints of a company share a limit of 5,000 requests per day", async () => {
    const one = await scim.call("GET", "/scim/v2/Schemas");
    const other = await scim.users("POST", "", {});
    const remaining = ({ headers }: typeof one) => Number(headers.get("x-ratelimit-remaining"));
    assert.equal(one.headers.get("x-ratelimit-limit"), "5000");
    assert.equal(other.headers.get("x-ratelimit-limit"), "5000");
    assert.equal(remaining(other), remaining(one) - 1, "a refused request counts too");
    const reset = Number(one.headers.get("x-ratelimit-reset")) - Date.now() / 1_000;
    assert.ok(reset > 86_000 && reset <= 86_401);
  });

  test("a SCIM request over the daily limit is refused with the time to wait, separately for each company", async () => {
    // On the embedded engine the database is not asked.
    const database = { engine: "embedded" } as Database;
    const limits = createRateLimits({ database, clock: systemClock });
    const callerOf = (id: string): Caller => ({
      actor: "scim",
      actorName: "idp",
      company: { id, name: id },
    });
    for (let request = 1; request <= 5_000; request++) {
      const state = await limits.count(byScimToken, callerOf("one"));
      assert.equal(state?.retryAfterSeconds, 0);
    }
    const state = await limits.count(byScimToken, callerOf("one"));
    assert.ok(state && state.retryAfterSeconds > 86_000);
    assert.equal((await limits.count(byScimToken, callerOf("other")))?.remaining, 4_999);
  });
});

describe("a SCIM request with an Idempotency-Key", () => {
  const options = (key: string) => ({ headers: { "idempotency-key": key } });

  test("a SCIM request repeated with its Idempotency-Key is applied once and gets the same response", async () => {
    const body = newUser();
    const first = await scim.call("POST", "/scim/v2/Users", body, options("make"));
    const again = await scim.call("POST", "/scim/v2/Users", body, options("make"));
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
  });

  test("a SCIM response without a body and a SCIM refusal are replayed for their Idempotency-Key", async () => {
    const user = await scim.user();
    const path = `/scim/v2/Users/${user.id}`;
    for (const _ of [1, 2]) {
      const gone = await scim.call("DELETE", path, undefined, options("unmake"));
      assert.equal(gone.status, 204);
      const missing = await scim.call("DELETE", path, undefined, options("again"));
      assertRefused(missing, 404, undefined, "User not found");
    }
  });

  test("a SCIM refusal that quotes a NUL is replayed for its Idempotency-Key, with a replacement character", async () => {
    const user = await scim.user();
    const calls = [
      ["POST", "?attributes=%00", newUser()],
      ["PUT", `/${user.id}?excludedAttributes=a%00b`, newUser()],
    ] as const;
    for (const [index, [method, path, body]] of calls.entries()) {
      const send = () => scim.call(method, `/scim/v2/Users${path}`, body, options(`nul-${index}`));
      const [first, again] = [await send(), await send()];
      assert.deepEqual([first.status, again.status], [400, 400], JSON.stringify(first.body));
      assert.ok(!first.body.detail.includes("\0"));
      assert.deepEqual(again.body, first.body);
    }
  });

  test("an Idempotency-Key reused for a different SCIM request is refused with a SCIM error", async () => {
    await scim.call("POST", "/scim/v2/Users", newUser(), options("once"));
    const other = await scim.call("POST", "/scim/v2/Users", newUser(), options("once"));
    assertRefused(other, 422);
  });

  test("an Idempotency-Key of a SCIM request does not affect the same key in a workspace", async () => {
    await scim.call("POST", "/scim/v2/Users", newUser(), options("shared"));
    const track = await server.send(
      "POST",
      "/users/track",
      { attributes: [{ external_id: "a", first_name: "A" }] },
      { key: "dev-key", ...options("shared") },
    );
    assert.equal(track.status, 201);
  });
});
