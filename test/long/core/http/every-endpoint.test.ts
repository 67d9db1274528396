/*
 * A walk over every endpoint, which asks two questions of each: who may call it, and whether a key of one workspace sees or
 * changes another one through it. The cases follow from the declarations in src/server/app.ts. A new endpoint needs a
 * request that works in sample-requests.ts, and nothing here. Random input: long/core/http/random-input.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PERMISSIONS, type Permission } from "../../../../src/core/base/context/permissions.ts";
import { type Contract, keyOf, pathsOf } from "../../../../src/core/http/endpoint.ts";
import { contracts, optionsOf, sampleIn, startWalk } from "../../../core/http/endpoint-walk.ts";
import type { Answer } from "../../../harness.ts";
import { pathOf, type Sample, SCIM_TOKEN } from "../../../sample-requests.ts";

const keyFor = (permission: Permission) => `key-for-${permission}`;
const keyWithout = (permission: Permission) => `key-for-all-but-${permission}`;
const EVERYTHING = "key-for-everything";

const { server, own, samples, foreignId, ...walk } = await startWalk({
  api_keys: [
    { name: "everything", key: EVERYTHING, permissions: ["all"] },
    { name: "nothing", key: "key-for-nothing", permissions: [] },
    ...PERMISSIONS.flatMap((one) => [
      { name: `only ${one}`, key: keyFor(one), permissions: [one] },
      {
        name: `all but ${one}`,
        key: keyWithout(one),
        permissions: PERMISSIONS.filter((another) => another !== one),
      },
    ]),
  ],
});

/** Sends the sample request of an endpoint, at every spelling of its path. */
async function sendSample(
  contract: Contract,
  authorization?: string,
  prepare = () => sampleIn(samples, contract),
): Promise<Answer<any>[]> {
  return Promise.all(
    pathsOf(contract).map(async (declaredPath) => {
      const sample = await prepare();
      const path = pathOf(declaredPath, own.name, sample);
      const options = optionsOf(sample);
      const headers = { ...options.headers, ...(authorization && { authorization }) };
      const answer = await server.send(contract.method, path, sample.body, { ...options, headers });
      walk.assertShowsNothing(keyOf(contract), answer);
      return answer;
    }),
  );
}

/** The samples of refused requests. A refusal changes nothing, so that one sample serves all of them. */
const refusedSamples = new Map<Contract, Promise<Sample>>();

async function assertAll(
  contract: Contract,
  authorization: string | undefined,
  status: number,
  message: RegExp,
): Promise<void> {
  const sample = refusedSamples.get(contract) ?? sampleIn(samples, contract);
  refusedSamples.set(contract, sample);
  for (const answer of await sendSample(contract, authorization, () => sample)) {
    assert.equal(answer.status, status, `${authorization}: ${JSON.stringify(answer.body)}`);
    const { message: text, detail, errors } = answer.body;
    assert.match(text ?? detail ?? errors[0].message, message);
    const token = authorization?.split(" ")[1];
    const whole = JSON.stringify([answer.body, [...answer.headers]]);
    assert.ok(!token || !whole.includes(token), "The answer repeats the token.");
  }
}

/** Sends the request with each of these credentials; none is accepted. */
const assertRefused = (
  contract: Contract,
  credentials: readonly (string | undefined)[],
  message: RegExp,
): Promise<unknown> =>
  Promise.all(credentials.map((each) => assertAll(contract, each, 401, message)));

async function assertWorks(contract: Contract, authorization?: string): Promise<void> {
  for (const { status, headers, body } of await sendSample(contract, authorization)) {
    assert.ok(status in contract.replies && status < 300, `${status}: ${JSON.stringify(body)}`);
    if (status === 204) continue;
    const type = contract.produces ?? (contract.dialect === "scim" ? SCIM_TYPE : JSON_TYPE);
    assert.ok(headers.get("content-type")?.startsWith(type), `It does not answer as ${type}.`);
  }
}

const JSON_TYPE = "application/json";
const SCIM_TYPE = "application/scim+json";

const MALFORMED = [
  "Bearer",
  "Bearer ",
  `Bearer ${EVERYTHING} x`,
  `Basic ${EVERYTHING}`,
  EVERYTHING,
  "Bearer null",
  `Bearer ${"x".repeat(4_000)}`,
];

let turn = 0;

/** Authorization headers without a valid bearer token. One place reads the header for all endpoints: they take turns. */
const strangers = () => [
  undefined,
  "Bearer not-a-key",
  ...MALFORMED.slice(turn++ % MALFORMED.length).slice(0, 1),
];

test("every endpoint has a sample request and every sample request has an endpoint", () => {
  const names = contracts.map(keyOf);
  assert.deepEqual(
    names.filter((name) => !(name in samples)),
    [],
    "Put a request that works for the endpoint into test/sample-requests.ts.",
  );
  assert.deepEqual(
    Object.keys(samples).filter((name) => !names.includes(name)),
    [],
    "Take the sample of an endpoint that is gone out of test/sample-requests.ts.",
  );
});

for (const contract of contracts) {
  const { access } = contract;
  describe(`${keyOf(contract)} (${access.by})`, () => {
    if (access.by === "key") keyCases(contract, access.permission);
    else if (access.by === "administrator") administratorCases(contract);
    else if (access.by === "scim") scimCases(contract);
    else if (access.by === "session") sessionCases(contract);
    else if (access.by === "anybody") anybodyCases(contract);
    else
      test("every kind of access has test cases", () =>
        assert.fail("Write the cases of this kind of access."));
  });
}

function keyCases(contract: Contract, permission: Permission): void {
  test("an endpoint that requires an API key rejects any other credential with 401", async () => {
    await assertRefused(
      contract,
      [...strangers(), `Bearer ${server.adminToken}`],
      /^Invalid API key(: the request has none\. .*)?$/,
    );
  });

  test("an endpoint that requires an API key rejects a key without its permission with 403", async () => {
    const message = new RegExp(`lacks the permission ${permission.replaceAll(".", "\\.")}\\.$`);
    await assertAll(contract, `Bearer ${keyWithout(permission)}`, 403, message);
    await assertAll(contract, "Bearer key-for-nothing", 403, message);
  });

  test("an endpoint accepts a key with only its permission or with all, and responds as declared", async () => {
    await assertWorks(contract, `Bearer ${keyFor(permission)}`);
    await assertWorks(contract, `bearer ${EVERYTHING}`);
  });
}

function administratorCases(contract: Contract): void {
  test("an administrator endpoint rejects every other credential with 401", async () => {
    const others = [...strangers(), `Bearer ${EVERYTHING}`];
    await assertRefused(
      contract,
      others,
      /^Invalid admin token\. API keys do not open \/admin\/v1$/,
    );
  });

  // It copies the files of an embedded engine in a folder, which this server has not: test/system/backup.test.ts.
  if (keyOf(contract) === "POST /admin/v1/engine-copies") return;

  test("an administrator endpoint accepts the admin token", async () => {
    await assertWorks(contract, `Bearer ${server.adminToken}`);
  });
}

/** More about the service origin of a token is in scim-access.test.ts. */
function scimCases(contract: Contract): void {
  test("a SCIM endpoint rejects every other credential with 401", async () => {
    const others = [`Bearer ${EVERYTHING}`, `Bearer ${server.adminToken}`];
    await assertRefused(
      contract,
      [...strangers(), ...others],
      /^Invalid SCIM token(: the request has none\. .*)?$/,
    );
  });

  test("a SCIM endpoint accepts the company's SCIM token", async () => {
    await assertWorks(contract, `Bearer ${SCIM_TOKEN}`);
  });
}

/** More about sessions is in sign-in.test.ts. */
function sessionCases(contract: Contract): void {
  test("an endpoint that requires a session rejects every key and token with 401", async () => {
    for (const key of [EVERYTHING, SCIM_TOKEN, server.adminToken]) {
      const answer = await server.send(contract.method, pathsOf(contract)[0] ?? "", undefined, {
        key,
      });
      assert.equal(answer.status, 401);
      assert.equal(answer.body.message, "You are not signed in.");
    }
  });

  test("an endpoint that requires a session accepts one", async () => {
    await assertWorks(contract);
  });
}

function anybodyCases(contract: Contract): void {
  test("a public endpoint responds without a key and with a wrong one", async () => {
    await assertWorks(contract);
    await assertWorks(contract, "Bearer not-a-key");
    await assertWorks(contract, `Bearer ${EVERYTHING}`);
  });
}

describe("after the walk", () => {
  test("an API key of one workspace cannot see data of another through any endpoint or by platform_id", async () => {
    walk.assertAllSearched();
    assert.ok(foreignId);
    const event = { platform_id: foreignId, name: "x", time: "2026-01-01T00:00:00Z" };
    const attempts: [path: string, body: unknown][] = [
      ["/users/export/ids", { platform_ids: [foreignId] }],
      ["/users/track", { attributes: [{ platform_id: foreignId, mark: "touched" }] }],
      ["/users/track", { events: [event] }],
      ["/users/delete", { platform_ids: [foreignId] }],
    ];
    for (const [path, body] of attempts) {
      const answer = await server.send("POST", path, body, { key: EVERYTHING });
      assert.ok(answer.status < 500, `${path}: ${answer.status}`);
      walk.assertShowsNothing(path, answer);
    }
  });

  test("an API key of one workspace cannot change data of another through any endpoint", () =>
    walk.assertNothingChanged());
});
