/*
 * Who may call what, for every endpoint there is: the cases follow from the declarations in
 * src/app.ts. A new endpoint needs a request that works in sample-requests.ts, and nothing here.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PERMISSIONS, type Permission } from "../src/access/permissions.ts";
import { ENDPOINTS } from "../src/app.ts";
import { documentationEndpoints } from "../src/http/documentation.ts";
import { type Contract, pathsOf } from "../src/http/endpoint.ts";
import { type Answer, startServer } from "./harness.ts";
import { PROVED_ELSEWHERE, sampleRequests } from "./sample-requests.ts";

const server = await startServer();

const keyFor = (permission: Permission) => `key-for-${permission}`;
const keyWithout = (permission: Permission) => `key-for-all-but-${permission}`;

const workspace = await server.workspace({
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
const samples = sampleRequests(workspace.name);

const declared = ENDPOINTS.map((endpoint) => endpoint.contract);
const contracts: readonly Contract[] = [
  ...declared,
  ...documentationEndpoints(declared).map((endpoint) => endpoint.contract),
];

const nameOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

const isProvedElsewhere = (name: string): boolean =>
  PROVED_ELSEWHERE.some((pattern) => pattern.test(name));

/** The sentence of an error, in whichever dialect. */
const messageOf = (body: any): string => body.message ?? body.detail ?? body.errors?.[0]?.message;

/** Sends the sample request of an endpoint, at every spelling of its path. */
async function sendSample(contract: Contract, authorization?: string): Promise<Answer<any>[]> {
  const { path, body } = samples[nameOf(contract)] ?? {};
  const paths = path === undefined ? pathsOf(contract) : [path];
  const headers = authorization === undefined ? {} : { authorization };
  return Promise.all(paths.map((each) => server.send(contract.method, each, body, { headers })));
}

async function assertAll(
  contract: Contract,
  authorization: string | undefined,
  status: number,
  message: RegExp,
): Promise<void> {
  for (const answer of await sendSample(contract, authorization)) {
    assert.equal(answer.status, status, `${authorization}: ${JSON.stringify(answer.body)}`);
    assert.match(messageOf(answer.body), message);
    const token = authorization?.split(" ")[1];
    const whole = JSON.stringify([answer.body, [...answer.headers]]);
    assert.ok(!token || !whole.includes(token), "The answer repeats the token.");
  }
}

async function assertWorks(contract: Contract, authorization?: string): Promise<void> {
  if (isProvedElsewhere(nameOf(contract))) return;
  for (const { status, headers, body } of await sendSample(contract, authorization)) {
    assert.ok(status in contract.replies && status < 300, `${status}: ${JSON.stringify(body)}`);
    const type = contract.produces ?? "application/json";
    assert.ok(headers.get("content-type")?.startsWith(type), `It does not answer as ${type}.`);
  }
}

/** What is not a bearer token of anybody. */
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

test("every endpoint has a sample request, and every sample an endpoint", () => {
  const names = contracts.map(nameOf);
  assert.deepEqual(
    names.filter((name) => !(name in samples) && !isProvedElsewhere(name)),
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
  describe(`${nameOf(contract)}, which is for ${access.by}`, () => {
    if (access.by === "key") keyCases(contract, access.permission);
    else if (access.by === "administrator") administratorCases(contract);
    else if (access.by === "anybody") anybodyCases(contract);
    else scimCases(contract);
  });
}

function keyCases(contract: Contract, permission: Permission): void {
  test("refuses a request without a key, or with one that nobody issued, with 401", async () => {
    for (const authorization of [...STRANGERS, `Bearer ${server.adminToken}`]) {
      await assertAll(contract, authorization, 401, /^Invalid API key$/);
    }
  });

  test("refuses a key that has every permission but its own with 403", async () => {
    const message = new RegExp(`lacks the permission ${permission.replaceAll(".", "\\.")}\\.$`);
    await assertAll(contract, `Bearer ${keyWithout(permission)}`, 403, message);
    await assertAll(contract, "Bearer key-for-nothing", 403, message);
  });

  test("takes a key that has its permission and nothing else, or all; answers as declared", async () => {
    await assertWorks(contract, `Bearer ${keyFor(permission)}`);
    await assertWorks(contract, "Bearer key-for-everything");
    await assertWorks(contract, "bearer key-for-everything");
  });
}

function administratorCases(contract: Contract): void {
  test("refuses everybody but the administrator with 401", async () => {
    for (const authorization of [...STRANGERS, "Bearer key-for-everything"]) {
      await assertAll(contract, authorization, 401, /^Invalid admin token$/);
    }
  });

  test("takes the admin token", async () => {
    await assertWorks(contract, `Bearer ${server.adminToken}`);
  });
}

function scimCases(contract: Contract): void {
  test("refuses everybody without a SCIM token with 401, other tokens too", async () => {
    const others = [`Bearer ${server.adminToken}`, "Bearer key-for-everything"];
    for (const authorization of [...STRANGERS, ...others]) {
      await assertAll(contract, authorization, 401, /token/i);
    }
  });
}

function anybodyCases(contract: Contract): void {
  test("answers without a key, and with a wrong one", async () => {
    await assertWorks(contract);
    await assertWorks(contract, "Bearer not-a-key");
  });
}

describe("the permission of an endpoint", () => {
  /** spec: Authentication, the table; design: Permissions beyond the specification's table. */
  const PERMISSION_OF: Readonly<Record<string, string>> = {
    "/users/track": "users.track",
    "/users/export/ids": "users.export.ids",
    "/v2/subscription/status/set": "subscription.status.set",
    "/subscription/status/set": "subscription.status.set",
    "/subscription/status/get": "subscription.status.get",
    "/subscription/user/status": "subscription.groups.get",
    "/email/status": "email.status",
    "/users/merge": "users.merge",
    "/users/identify": "users.identify",
    "/users/alias/new": "users.alias.new",
    "/users/alias/update": "users.alias.update",
    "/users/delete": "users.delete",
    "/cdi/integrations": "cdi.integration_list",
    "/cdi/integrations/:integration_id/job_sync_status": "cdi.integration_job_status",
    "/cdi/integrations/:integration_id/sync": "cdi.integration_sync",
    "/preference_center/v1/list": "preference_center.list",
  };

  test("is the one that the specification or the design gives its path", () => {
    for (const contract of contracts) {
      for (const path of pathsOf(contract)) {
        const expected = PERMISSION_OF[path];
        if (expected === undefined) continue;
        const { access } = contract;
        assert.equal(access.by === "key" && access.permission, expected, path);
      }
    }
  });

  test("is the only thing that a key of that permission opens", async () => {
    for (const contract of contracts) {
      if (contract.access.by !== "key") continue;
      const { permission } = contract.access;
      for (const other of PERMISSIONS.filter((each) => each !== permission)) {
        await assertAll(contract, `Bearer ${keyFor(other)}`, 403, /lacks the permission/);
      }
    }
  });
});
