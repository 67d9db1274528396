import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PERMISSIONS, type Permission } from "../../../src/core/base/context/permissions.ts";
import { type Contract, pathsOf } from "../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/server/assembled.ts";
import {
  type Answer,
  ENGINE,
  startOwnServer,
  startServer,
  type TestWorkspace,
} from "../../harness.ts";

const server = await startServer();

const MINUTE = 60;
const HOUR = 3_600;

/** How many requests fit into how many seconds. spec: Limits; docs/conformance.md#rate-limits */
const LIMITS: Partial<Record<Permission, readonly [requests: number, perSeconds: number]>> = {
  "users.track": [3_000, 3],
  "users.track.bulk": [50, 1],
  "users.track.sync": [500, MINUTE],
  "users.delete": [20_000, MINUTE],
  "users.alias.new": [20_000, MINUTE],
  "users.external_ids.rename": [1_000, MINUTE],
  "users.external_ids.remove": [1_000, MINUTE],
  "users.alias.update": [20_000, MINUTE],
  "users.identify": [20_000, MINUTE],
  "users.merge": [20_000, MINUTE],
  "subscription.status.set": [5_000, MINUTE],
  "users.export.ids": [2_500, MINUTE],
  "preference_center.update": [10, MINUTE],
  "preference_center.list": [1_000, MINUTE],
  "preference_center.get": [1_000, MINUTE],
  "preference_center.user.get": [1_000, MINUTE],
  "cdi.integration_list": [50, MINUTE],
  "cdi.integration_job_status": [100, MINUTE],
  "cdi.integration_sync": [20, MINUTE],
};

const DEFAULT_LIMIT = [250_000, HOUR] as const;

/** A workspace with the default limits. */
const workspaceWith = (rate_limits: object = {}) => server.workspace({ settings: { rate_limits } });

const limitHeaders = ({ headers }: Answer<unknown>) => ({
  limit: Number(headers.get("x-ratelimit-limit") ?? Number.NaN),
  remaining: Number(headers.get("x-ratelimit-remaining") ?? Number.NaN),
  reset: Number(headers.get("x-ratelimit-reset") ?? Number.NaN),
});

const exported = (workspace: TestWorkspace, body: unknown = { external_ids: ["ada"] }) =>
  workspace.call("POST", "/users/export/ids", body);

/** A request that counts, whether it is taken or not. */
const sendAny = (workspace: TestWorkspace, contract: Contract) =>
  workspace.call(
    contract.method,
    (pathsOf(contract)[0] ?? "").replaceAll(/:\w+/g, "x"),
    contract.method === "GET" ? undefined : {},
  );

describe("the rate limit of every endpoint", () => {
  for (const { contract } of ENDPOINTS) {
    const { access, method } = contract;
    if (access.by !== "key") continue;
    const [path = ""] = pathsOf(contract);

    test(`${method} ${path} has the rate limit of ${access.permission}`, async () => {
      const workspace = await workspaceWith();
      const [requests, perSeconds] = LIMITS[access.permission] ?? DEFAULT_LIMIT;
      const sentAt = Math.floor(Date.now() / 1_000);
      const answer = await sendAny(workspace, contract);
      const { limit, remaining, reset } = limitHeaders(answer);
      assert.deepEqual([limit, remaining], [requests, requests - 1]);
      assert.ok(reset >= sentAt + perSeconds && reset <= sentAt + perSeconds + 3, `${reset}`);
    });
  }
});

test("the highest rate limit that a workspace may set is counted like any other", async () => {
  const highest = { requests: 1_000_000_000, per_seconds: 31_536_000 };
  const workspace = await workspaceWith({ "users.export.ids": highest });
  const { limit, remaining } = limitHeaders(await exported(workspace));
  assert.deepEqual([limit, remaining], [1_000_000_000, 999_999_999]);
});

/** Permissions that are counted together. docs/conformance.md#rate-limits; all that stand nowhere are one more. */
const SHARED: readonly (readonly Permission[])[] = [
  ["users.delete", "users.alias.new", "users.alias.update", "users.identify", "users.merge"],
  [
    "campaigns.translations.get",
    "campaigns.translations.update",
    "canvas.translations.get",
    "canvas.translations.update",
  ],
  [
    "email.status",
    "email.unsubscribe",
    "email.hard_bounces",
    "email.bounce.remove",
    "email.blacklist",
    "subscription.status.get",
    "subscription.groups.get",
    "users.export.segment",
    "segments.list",
    "segments.details",
    "segments.data_series",
    "events.list",
    "events.get",
    "custom_attributes.get",
    "purchases.product_list",
    "changes.get",
  ],
];

describe("rate limits shared by several endpoints", () => {
  const byKey = ENDPOINTS.map((each) => each.contract).filter(({ access }) => access.by === "key");
  const permissionOf = ({ access }: Contract) => (access as { permission: Permission }).permission;
  const buckets = [
    ...SHARED,
    ...PERMISSIONS.filter((each) => !SHARED.flat().includes(each)).map((each) => [each]),
  ];

  test("a shared rate limit counts the requests to all of its endpoints and to no other", async () => {
    const workspace = await workspaceWith();
    for (const bucket of buckets) {
      const contracts = byKey.filter((contract) => bucket.includes(permissionOf(contract)));
      for (const [index, contract] of contracts.entries()) {
        const { limit, remaining } = limitHeaders(await sendAny(workspace, contract));
        assert.equal(remaining, limit - index - 1, `${contract.method} ${pathsOf(contract)[0]}`);
      }
    }
  });
});

describe("a rate limit", () => {
  test("a request over the rate limit is refused with 429 and Retry-After", async () => {
    const workspace = await workspaceWith({
      "users.export.ids": { requests: 2, per_seconds: 600 },
    });
    const statuses = [(await exported(workspace)).status, (await exported(workspace)).status];
    assert.deepEqual(statuses, [201, 201]);
    const refused = await exported(workspace);
    assert.equal(refused.status, 429);
    assert.match(String(refused.body.message), /^You have exceeded the maximum number of requests/);
    const retryAfter = Number(refused.headers.get("retry-after"));
    const secondsLeft = limitHeaders(refused).reset - Math.ceil(Date.now() / 1_000);
    assert.ok(retryAfter >= secondsLeft, `${retryAfter}, and the window ends in ${secondsLeft}`);
    assert.deepEqual(
      [limitHeaders(refused).limit, limitHeaders(refused).remaining],
      [2, 0],
      "the headers are on a refusal too",
    );
  });

  test("a request that is refused for another reason counts towards the rate limit", async () => {
    const workspace = await workspaceWith({
      "users.export.ids": { requests: 2, per_seconds: 600 },
    });
    assert.equal((await exported(workspace, { external_ids: {} })).status, 400);
    assert.equal(limitHeaders(await exported(workspace)).remaining, 0);
  });

  test("an unauthenticated request does not count towards a rate limit and gets no rate limit headers", async () => {
    const workspace = await workspaceWith({
      "users.export.ids": { requests: 2, per_seconds: 600 },
    });
    for (const key of [null, "wrong"]) {
      const answer = await workspace.call("POST", "/users/export/ids", {}, { key });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get("x-ratelimit-limit"), null);
    }
    assert.equal(limitHeaders(await exported(workspace)).remaining, 1);
  });

  test("a rate limit that is off refuses no request and sends no headers", async () => {
    const workspace = await workspaceWith({ "users.export.ids": "off" });
    const answer = await exported(workspace);
    assert.equal(answer.status, 201);
    for (const name of ["limit", "remaining", "reset"]) {
      assert.equal(answer.headers.get(`x-ratelimit-${name}`), null);
    }
  });

  test("a rate limit that a manifest sets applies from the next request", async () => {
    const workspace = await workspaceWith();
    assert.equal(limitHeaders(await exported(workspace)).limit, 2_500);
    await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [
        {
          name: workspace.name,
          settings: { rate_limits: { "users.export.ids": { requests: 7, per_seconds: 60 } } },
        },
      ],
    });
    const { limit, remaining } = limitHeaders(await exported(workspace));
    assert.deepEqual([limit, remaining], [7, 5], "what was counted before counts");
  });

  test("rate limits are counted separately for each workspace and each permission", async () => {
    const limits = {
      "users.export.ids": { requests: 1, per_seconds: 600 },
      "users.track": { requests: 1, per_seconds: 600 },
    };
    const [one, other] = [await workspaceWith(limits), await workspaceWith(limits)];
    assert.equal((await exported(one)).status, 201);
    assert.equal((await exported(one)).status, 429);
    assert.equal((await exported(other)).status, 201);
    const track = () => one.track({ attributes: [{ external_id: "ada" }] });
    assert.equal((await track()).status, 201);
    assert.equal((await track()).status, 429);
  });

  test("the keys of a workspace share its rate limits", async () => {
    const name = `limited-${process.pid}`;
    const keys = ["one", "two"].map((each) => `${name}-${each}`);
    await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [
        {
          name,
          api_keys: keys.map((key) => ({ name: key, key, permissions: ["all"] })),
          settings: { rate_limits: { "users.export.ids": { requests: 1, per_seconds: 600 } } },
        },
      ],
    });
    const statuses = [];
    for (const key of keys) {
      const answer = await server.send("POST", "/users/export/ids", {}, { key });
      statuses.push(answer.status);
    }
    assert.deepEqual(statuses, [400, 429]);
  });
});

test("a key cannot use up the limit of a permission that it lacks", async () => {
  const name = `lacking-${process.pid}`;
  const keyOf = (permission: string) => ({
    name: permission,
    key: `${name}-${permission}`,
    permissions: [permission],
  });
  const [lacking, having] = [keyOf("events.list"), keyOf("users.export.ids")];
  await server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [
      {
        name,
        api_keys: [lacking, having],
        settings: { rate_limits: { "users.export.ids": { requests: 1, per_seconds: 600 } } },
      },
    ],
  });
  const body = { external_ids: ["ada"] };
  for (let tried = 0; tried < 3; tried++) {
    const refused = await server.send("POST", "/users/export/ids", body, lacking);
    assert.equal(refused.status, 403);
    assert.equal(refused.headers.get("x-ratelimit-limit"), null);
  }
  assert.equal((await server.send("POST", "/users/export/ids", body, having)).status, 201);
});

describe("rate limits across server processes", { skip: ENGINE !== "postgres" }, () => {
  test("two servers on one database share a rate limit and never exceed it together", async () => {
    const other = await startOwnServer({ databaseUrl: server.config.databaseUrl });
    const workspace = await workspaceWith({
      "users.export.ids": { requests: 60, per_seconds: 3_600 },
    });
    const body = { external_ids: ["ada"], fields_to_export: ["external_id"] };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? server : other).send("POST", "/users/export/ids", body, workspace),
      ),
    );
    const count = (status: number) => answers.filter((each) => each.status === status).length;
    assert.equal(count(201) + count(429), 100);
    assert.ok(count(201) <= 60 && count(201) >= 55, `${count(201)} of 60`);
    const ends = new Set(answers.map((answer) => answer.headers.get("x-ratelimit-reset")));
    assert.equal(ends.size, 1, "they are in one window");
    for (const each of [server, other]) {
      const answer = await each.send("POST", "/users/export/ids", body, workspace);
      if (answer.status === 429) assert.equal(answer.headers.get("x-ratelimit-remaining"), "0");
    }
  });

  test("a rate limit of ten requests is exact across two servers", async () => {
    const other = await startOwnServer({ databaseUrl: server.config.databaseUrl });
    const workspace = await workspaceWith({
      "users.export.ids": { requests: 10, per_seconds: 3_600 },
    });
    const statuses: number[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const each = turn % 3 === 0 ? server : other;
      statuses.push((await each.send("POST", "/users/export/ids", {}, workspace)).status);
    }
    assert.deepEqual(statuses, [...Array(10).fill(400), 429, 429]);
  });
});
