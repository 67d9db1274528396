/*
 * A walk over every endpoint, which asks three questions of each: who may call it, whether a key of one workspace sees or
 * changes another one through it, and whether it has an answer to random input. The cases follow from the declarations in
 * src/server/app.ts. A new endpoint needs a request that works in sample-requests.ts, and nothing here.
 *
 * The walk uses one server and three workspaces. `other` is filled with what the samples make and name, and must neither
 * be seen nor changed. `own` names the same people and things; the sample requests go to it. Random input goes to
 * `scratch`, because it may break what other requests rely on.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { PERMISSIONS, type Permission } from "../../src/base/context/permissions.ts";
import { type Contract, keyOf, pathsOf } from "../../src/http/endpoint.ts";
import { STATUS_OF } from "../../src/http/respond.ts";
import { ENDPOINTS } from "../../src/server/app.ts";
import { documentationEndpoints } from "../../src/server/reference/documentation.ts";
import { declare, TOKEN } from "../dashboard/scim/scim-client.ts";
import {
  type Answer,
  type CallOptions,
  ENGINE,
  startOwnServer,
  type TestServer,
  type TestWorkspace,
} from "../harness.ts";
import {
  pathOf,
  type Sample,
  type Samples,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../sample-requests.ts";
import { sized } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { MARK, markPeople, rowsAfterStopOf } from "./another-workspace.ts";
import { isAlwaysTheSame, requestsFor } from "./random-requests.ts";

/**
 * One of this many pairs of an endpoint and a permission that it does not require is tried. That no
 * other permission opens an endpoint is shown for all of them by keys with every permission but the
 * required one.
 */
const SHARE = sized(7, 1);

const RANDOM_REQUESTS = sized(5, 25);

const keyFor = (permission: Permission) => `key-for-${permission}`;
const keyWithout = (permission: Permission) => `key-for-all-but-${permission}`;
const EVERYTHING = "key-for-everything";

const first = await startOwnServer({ dataDir: await temporaryFolder() });
const other = await first.workspace(sampleWorkspace());
const scratch = await first.workspace(sampleWorkspace());
const own = await first.workspace({
  ...sampleWorkspace(),
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

const contracts: readonly Contract[] = [...ENDPOINTS, ...documentationEndpoints()].map(
  ({ contract }) => contract,
);

const sampleIn = async (samples: Samples, contract: Contract): Promise<Sample> =>
  (await samples[keyOf(contract)]?.()) ?? {};

const optionsOf = ({ raw, headers }: Sample): CallOptions => ({
  ...(raw !== undefined && { raw }),
  ...(headers && { headers }),
});

/** The credentials with which an endpoint is called in a workspace. */
const credentialOf = ({ access }: Contract, server: TestServer, { key }: TestWorkspace) =>
  ({ key, scim: SCIM_TOKEN, administrator: server.adminToken, session: null, anybody: null })[
    access.by
  ];

/** Sends every sample in the other workspace, and marks all users whom one names. */
async function fillOther(): Promise<void> {
  const samples = await sampleRequests(first, other);
  const sent: Sample[] = [];
  for (const contract of contracts) {
    const key = credentialOf(contract, first, other);
    for (const declaredPath of pathsOf(contract)) {
      const sample = await sampleIn(samples, contract);
      const path = pathOf(declaredPath, other.name, sample);
      await first.send(contract.method, path, sample.body, { ...optionsOf(sample), key });
      sent.push(sample);
    }
  }
  await markPeople(other, sent);
}

await fillOther();
const [marked] = await other.profiles({ external_ids: ["ada"] });
const before = await rowsAfterStopOf(first, other);

const server = await startOwnServer(first.config);
const samples = await sampleRequests(server, own);
const scratchSamples = await sampleRequests(server, scratch);

/** The endpoints whose responses were searched for what belongs to the other workspace. */
const searched = new Set<string>();

function assertShowsNothing(name: string, { body, headers }: Answer<unknown>): void {
  searched.add(name);
  const shown = JSON.stringify([body, [...headers]]);
  assert.ok(!shown.includes(MARK), `${name} shows another workspace: ${shown}`);
  // An administrator sees every workspace.
  if (!/\/(admin|dashboard)\//.test(name)) assert.ok(!shown.includes(other.name), name);
}

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
      assertShowsNothing(keyOf(contract), answer);
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

/** Authorization headers without a valid bearer token. */
const STRANGERS = [
  undefined,
  "Bearer",
  "Bearer ",
  "Bearer not-a-key",
  `Bearer ${EVERYTHING} x`,
  `Basic ${EVERYTHING}`,
  EVERYTHING,
  "Bearer null",
  `Bearer ${"x".repeat(4_000)}`,
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

    test("an endpoint responds to random input with a status that it declares, and shows no other workspace", () =>
      assertBearsRandomInput(contract));
  });
}

function keyCases(contract: Contract, permission: Permission): void {
  test("an endpoint that requires an API key rejects any other credential with 401", async () => {
    await assertRefused(
      contract,
      [...STRANGERS, `Bearer ${server.adminToken}`],
      /^Invalid API key$/,
    );
  });

  test("an endpoint that requires an API key rejects a key without its permission with 403", async () => {
    const message = new RegExp(`lacks the permission ${permission.replaceAll(".", "\\.")}\\.$`);
    await assertAll(contract, `Bearer ${keyWithout(permission)}`, 403, message);
    await assertAll(contract, "Bearer key-for-nothing", 403, message);
  });

  test("an endpoint accepts a key with only its permission or with all, and responds as declared", async () => {
    await assertWorks(contract, `Bearer ${keyFor(permission)}`);
    await assertWorks(contract, `Bearer ${EVERYTHING}`);
    await assertWorks(contract, `bearer ${EVERYTHING}`);
  });
}

function administratorCases(contract: Contract): void {
  test("an administrator endpoint rejects every other credential with 401", async () => {
    const others = [...STRANGERS, `Bearer ${EVERYTHING}`];
    await assertRefused(
      contract,
      others,
      /^Invalid admin token\. API keys do not open \/admin\/v1$/,
    );
  });

  // It copies the files of the embedded engine.
  if (keyOf(contract) === "POST /admin/v1/engine-copies" && ENGINE !== "embedded") return;

  test("an administrator endpoint accepts the admin token", async () => {
    await assertWorks(contract, `Bearer ${server.adminToken}`);
  });
}

/** More about the service origin of a token is in scim-access.test.ts. */
function scimCases(contract: Contract): void {
  test("a SCIM endpoint rejects every other credential with 401", async () => {
    const others = [`Bearer ${EVERYTHING}`, `Bearer ${server.adminToken}`];
    await assertRefused(contract, [...STRANGERS, ...others], /^Invalid SCIM token$/);
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

/** The refusals that the server itself may give to any request; an endpoint declares the rest. */
const REFUSALS = new Set(Object.values(STATUS_OF).filter((status) => status < 500));

/** Sends random requests with credentials that the endpoint accepts, as JSON or as a text that it reads. */
async function assertBearsRandomInput(contract: Contract): Promise<void> {
  const { method, access, accepts, replies } = contract;
  const name = keyOf(contract);
  const declared = new Set([...Object.keys(replies).map(Number), ...REFUSALS]);
  // On a busy machine it is the truth: the database took longer than it has patience.
  if (name === "GET /health/ready") declared.add(STATUS_OF.UNAVAILABLE);
  const requests = requestsFor(contract, scratch.name, await sampleIn(scratchSamples, contract));
  const headers = {
    ...(access.by === "scim" && { "x-request-origin": TOKEN.service_origin }),
    ...(accepts && { "content-type": accepts[0] }),
  };
  const key = credentialOf(contract, server, scratch);
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
      assertShowsNothing(name, answer);
    }),
    { numRuns: isAlwaysTheSame(contract) ? 1 : RANDOM_REQUESTS },
  );
  // A random manifest replaces the company's tokens.
  if (name === "POST /admin/v1/apply") await declare(server, {}, []);
}

describe("after the walk", () => {
  test("a key with a single permission gets 403 from every endpoint that requires another one", async () => {
    let turn = 0;
    for (const contract of contracts) {
      if (contract.access.by !== "key") continue;
      const { permission } = contract.access;
      for (const another of PERMISSIONS.filter((each) => each !== permission)) {
        if (turn++ % SHARE !== 0) continue;
        await assertAll(contract, `Bearer ${keyFor(another)}`, 403, /lacks the permission/);
      }
    }
  });

  test("an API key of one workspace cannot see data of another through any endpoint or by platform_id", async () => {
    assert.deepEqual(
      contracts.map(keyOf).filter((name) => !searched.has(name)),
      [],
    );
    const platformId = marked?.platform_id ?? marked?.braze_id;
    assert.ok(platformId);
    const event = { platform_id: platformId, name: "x", time: "2026-01-01T00:00:00Z" };
    const attempts: [path: string, body: unknown][] = [
      ["/users/export/ids", { platform_ids: [platformId] }],
      ["/users/track", { attributes: [{ platform_id: platformId, mark: "touched" }] }],
      ["/users/track", { events: [event] }],
      ["/users/delete", { platform_ids: [platformId] }],
    ];
    for (const [path, body] of attempts) {
      const answer = await server.send("POST", path, body, { key: EVERYTHING });
      assert.ok(answer.status < 500, `${path}: ${answer.status}`);
      assertShowsNothing(path, answer);
    }
  });

  test("the server is healthy and accepts a request after all random input", async () => {
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
    const body = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };
    const tracked = await server.send("POST", "/users/track", body, { key: EVERYTHING });
    assert.equal(tracked.status, 201);
    assert.equal((await server.admin("PUT", "/admin/v1/workspaces/fresh", {})).status, 200);
  });

  test("an API key of one workspace cannot change data of another through any endpoint", async () => {
    assert.ok(Object.values(before).flat().length > 5, "there is something to change");
    assert.ok(JSON.stringify(before).includes(MARK), "and something to see");
    assert.deepEqual(await rowsAfterStopOf(server, other), before);
  });
});
