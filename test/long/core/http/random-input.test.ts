/* Random input to every endpoint, made from its declaration: an answer to each, and nothing of another workspace. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type Contract, keyOf } from "../../../../src/core/http/endpoint.ts";
import { STATUS_OF } from "../../../../src/core/http/respond.ts";
import { contracts, credentialOf, sampleIn, startWalk } from "../../../core/http/endpoint-walk.ts";
import { isAlwaysTheSame, requestsFor } from "../../../core/http/random-requests.ts";
import { declare, TOKEN } from "../../../scim-client.ts";
import { sized } from "../../../sizes.ts";

const RANDOM_REQUESTS = sized(1, 25);

const { server, own, samples, ...walk } = await startWalk();

/** The refusals that the server itself may give to any request; an endpoint declares the rest. */
const REFUSALS = new Set(Object.values(STATUS_OF).filter((status) => status < 500));

/** Sends random requests with credentials that the endpoint accepts, as JSON or as a text that it reads. */
async function assertBearsRandomInput(contract: Contract): Promise<void> {
  const { method, access, accepts, replies } = contract;
  const name = keyOf(contract);
  const declared = new Set([...Object.keys(replies).map(Number), ...REFUSALS]);
  // On a busy machine it is the truth: the database took longer than it has patience.
  if (name === "GET /health/ready") declared.add(STATUS_OF.UNAVAILABLE);
  const sample = await sampleIn(samples, contract);
  const requests = requestsFor(contract, own.name, sample);
  const headers = {
    ...(access.by === "session" && sample.headers),
    ...(access.by === "scim" && { "x-request-origin": TOKEN.service_origin }),
    ...(accepts && { "content-type": accepts[0] }),
  };
  const key = credentialOf(contract, server, own);
  await fc.assert(
    fc.asyncProperty(requests, async ({ path, query, body }) => {
      const raw = accepts && (typeof body === "string" ? body : JSON.stringify(body));
      const options = { key, headers, ...(raw !== undefined && { raw }) };
      const answer = await server.send(method, path + query, accepts ? undefined : body, options);
      assert.ok(declared.has(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
      // A session is known by its cookie, and begins with the right token alone.
      assert.ok(answer.status !== 401 || name.includes("/dashboard/session"));
      if (answer.status >= 400 && answer.body?.message !== undefined) {
        assert.equal(typeof answer.body.message, "string");
      }
      walk.assertShowsNothing(name, answer);
    }),
    { numRuns: isAlwaysTheSame(contract) ? 1 : RANDOM_REQUESTS },
  );
  // A random manifest replaces the company's tokens.
  if (name === "POST /admin/v1/apply") await declare(server, {}, []);
}

for (const contract of contracts) {
  describe(`random input to ${keyOf(contract)} (${contract.access.by})`, () => {
    test("an endpoint responds to random input with a status that it declares, and shows no other workspace", () =>
      assertBearsRandomInput(contract));
  });
}

describe("after all random input", () => {
  test("the server is healthy and accepts a request after all random input", async () => {
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
    const body = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };
    const tracked = await server.send("POST", "/users/track", body, { key: own.key });
    assert.equal(tracked.status, 201);
    assert.equal((await server.admin("PUT", "/admin/v1/workspaces/fresh", {})).status, 200);
  });

  test("random input to any endpoint changes no data of another workspace", async () => {
    walk.assertAllSearched();
    await walk.assertNothingChanged();
  });
});
