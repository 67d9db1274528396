/*
 * Who may call what, for every endpoint there is: the cases follow from the declarations in
 * src/server/app.ts. A new endpoint needs a request that works in sample-requests.ts, and nothing here.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PERMISSIONS, type Permission } from "../../src/base/context/permissions.ts";
import { type Contract, pathsOf } from "../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/app.ts";
import { documentationEndpoints } from "../../src/server/reference/documentation.ts";
import { type Answer, startOwnServer } from "../harness.ts";
import {
  pathOf,
  type Sample,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../sample-requests.ts";
import { sized } from "../sizes.ts";

const server = await startOwnServer();

/**
 * One of this many pairs of an endpoint and a permission that it does not require is tried. That no
 * other permission opens an endpoint is shown for all of them by keys with every permission but the
 * required one.
 */
const SHARE = sized(7, 1);

const keyFor = (permission: Permission) => `key-for-${permission}`;
const keyWithout = (permission: Permission) => `key-for-all-but-${permission}`;

const workspace = await server.workspace({
  ...sampleWorkspace(),
  api_keys: [
    { name: "everything", key: "key-for-everything", permissions: ["all"] },
    { name: "nothing", key: "key-for-nothing", permissions: [] },
    ...PERMISSIONS.flatMap((one) => [
      { name: `only ${one}`, key: keyFor(one), permissions: [one] },
      {
        name: `all but ${one}`,
        key: keyWithout(one),
        permissions: PERMISSIONS.filter((other) => other !== one),
      },
    ]),
  ],
});
const samples = await sampleRequests(server, workspace);

const declared = ENDPOINTS.map((endpoint) => endpoint.contract);
const contracts: readonly Contract[] = [
  ...declared,
  ...documentationEndpoints().map((endpoint) => endpoint.contract),
];

const nameOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

const sampleOf = async (contract: Contract): Promise<Sample> =>
  (await samples[nameOf(contract)]?.()) ?? {};

/** Sends the sample request of an endpoint, at every spelling of its path. */
async function sendSample(
  contract: Contract,
  authorization?: string,
  prepare = () => sampleOf(contract),
): Promise<Answer<any>[]> {
  return Promise.all(
    pathsOf(contract).map(async (declaredPath) => {
      const sample = await prepare();
      const path = pathOf(declaredPath, workspace.name, sample);
      return server.send(contract.method, path, sample.body, {
        ...(sample.raw !== undefined && { raw: sample.raw }),
        headers: { ...sample.headers, ...(authorization && { authorization }) },
      });
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
  const sample = refusedSamples.get(contract) ?? sampleOf(contract);
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
  "Bearer key-for-everything x",
  "Basic key-for-everything",
  "key-for-everything",
  "Bearer null",
  `Bearer ${"x".repeat(4_000)}`,
];

test("every endpoint has a sample request and every sample request has an endpoint", () => {
  const names = contracts.map(nameOf);
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
  describe(`access to ${nameOf(contract)} (${access.by})`, () => {
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
    await assertWorks(contract, "Bearer key-for-everything");
    await assertWorks(contract, "bearer key-for-everything");
  });
}

function administratorCases(contract: Contract): void {
  test("an administrator endpoint rejects every other credential with 401", async () => {
    const others = [...STRANGERS, "Bearer key-for-everything"];
    await assertRefused(
      contract,
      others,
      /^Invalid admin token\. API keys do not open \/admin\/v1$/,
    );
  });

  // It copies the files of a data folder, and this server has none: test/system/backup.test.ts.
  if (nameOf(contract) === "POST /admin/v1/engine-copies") return;

  test("an administrator endpoint accepts the admin token", async () => {
    await assertWorks(contract, `Bearer ${server.adminToken}`);
  });
}

/** More about the service origin of a token is in scim-access.test.ts. */
function scimCases(contract: Contract): void {
  test("a SCIM endpoint rejects every other credential with 401", async () => {
    const others = ["Bearer key-for-everything", `Bearer ${server.adminToken}`];
    await assertRefused(contract, [...STRANGERS, ...others], /^Invalid SCIM token$/);
  });

  test("a SCIM endpoint accepts the company's SCIM token", async () => {
    await assertWorks(contract, `Bearer ${SCIM_TOKEN}`);
  });
}

/** More about sessions is in sign-in.test.ts. */
function sessionCases(contract: Contract): void {
  test("an endpoint that requires a session rejects every key and token with 401", async () => {
    for (const key of ["key-for-everything", SCIM_TOKEN, server.adminToken]) {
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
  });
}

describe("every endpoint requires its own permission", () => {
  /** spec: Authentication, the table; docs/conformance.md#permissions-beyond-the-table-of-the-specification. */
  const PERMISSION_OF: Readonly<Record<string, string>> = {
    "/users/track": "users.track",
    "/users/track/bulk": "users.track.bulk",
    "/users/track/sync": "users.track.sync",
    "/users/export/ids": "users.export.ids",
    "/v2/subscription/status/set": "subscription.status.set",
    "/subscription/status/set": "subscription.status.set",
    "/subscription/status/get": "subscription.status.get",
    "/subscription/user/status": "subscription.groups.get",
    "/email/status": "email.status",
    "/email/unsubscribes": "email.unsubscribe",
    "/email/hard_bounces": "email.hard_bounces",
    "/email/bounce/remove": "email.bounce.remove",
    "/email/blocklist": "email.blacklist",
    "/email/blacklist": "email.blacklist",
    "/users/merge": "users.merge",
    "/users/identify": "users.identify",
    "/users/alias/new": "users.alias.new",
    "/users/alias/update": "users.alias.update",
    "/users/delete": "users.delete",
    "/users/external_ids/rename": "users.external_ids.rename",
    "/users/external_ids/remove": "users.external_ids.remove",
    "/cdi/integrations": "cdi.integration_list",
    "/cdi/integrations/:integration_id/job_sync_status": "cdi.integration_job_status",
    "/cdi/integrations/:integration_id/sync": "cdi.integration_sync",
    "/preference_center/v1/list": "preference_center.list",
    "/preference_center/v1": "preference_center.update",
    "GET /preference_center/v1/:preference_center_id": "preference_center.get",
    "PUT /preference_center/v1/:preference_center_id": "preference_center.update",
    "POST /preference_center/v1/:preference_center_id": "preference_center.update",
    "/preference_center/v1/:preference_center_id/url/:user_id": "preference_center.user.get",
  };

  test("an endpoint requires the permission that the specification or design assigns to its path", () => {
    for (const contract of contracts) {
      for (const path of pathsOf(contract)) {
        const expected = PERMISSION_OF[path] ?? PERMISSION_OF[`${contract.method} ${path}`];
        if (expected === undefined) continue;
        const { access } = contract;
        assert.equal(access.by === "key" && access.permission, expected, path);
      }
    }
  });

  test("a key with a single permission gets 403 from every endpoint that requires another one", async () => {
    let turn = 0;
    for (const contract of contracts) {
      if (contract.access.by !== "key") continue;
      const { permission } = contract.access;
      for (const other of PERMISSIONS.filter((each) => each !== permission)) {
        if (turn++ % SHARE !== 0) continue;
        await assertAll(contract, `Bearer ${keyFor(other)}`, 403, /lacks the permission/);
      }
    }
  });
});
