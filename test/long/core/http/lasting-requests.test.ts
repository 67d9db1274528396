/* What a caller waits for ends when the caller's right to it does, also at another server (SECURITY.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startProvider, visit } from "../../../dashboard-users/identity-provider.ts";
import { continueSession, signIn } from "../../../dashboard-users/signed-in.ts";
import { freePort } from "../../../free-port.ts";
import { type Answer, ENGINE, startOwnServer, type TestWorkspace } from "../../../harness.ts";
import { declare, scimClient } from "../../../scim-client.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server, {}, []);
const scim = scimClient(server);

/** On PostgreSQL another server has the request, and learns from the database alone. */
const waitsAt =
  ENGINE === "postgres"
    ? await startOwnServer({ databaseUrl: server.config.databaseUrl, oidc: provider.settings })
    : server;

const withFeed = () => server.workspace({ settings: { change_feed: true } });

/**
 * Resolves once the request waits: its caller has had responses to two others that were sent after it. However slow the
 * machine is, those take as long.
 */
async function started(sendsAnother: () => Promise<Answer<any>>): Promise<void> {
  for (let sent = 0; sent < 2; sent++) assert.equal((await sendsAnother()).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 200));
}

const WAIT = "wait_s=60&types=sync.finished";

describe("a long poll with an API key", () => {
  const keysOf = ({ name }: TestWorkspace) => `/admin/v1/workspaces/${name}/api-keys`;
  const apply = (workspace: TestWorkspace, declared: object) =>
    server.admin("POST", "/admin/v1/apply", {
      company: { name: "Acme" },
      workspaces: [{ name: workspace.name, settings: { change_feed: true }, ...declared }],
    });
  const ends: Record<string, [status: number, how: (w: TestWorkspace) => Promise<Answer<any>>]> = {
    "its key is revoked": [401, (w) => server.admin("DELETE", `${keysOf(w)}/feed`)],
    "its key loses the permission": [
      403,
      (w) =>
        server.admin("PUT", `${keysOf(w)}/feed`, {
          permissions: ["users.track"],
          ip_allowlist: [],
        }),
    ],
    "its key may no longer be used from its address": [
      403,
      (w) =>
        server.admin("PUT", `${keysOf(w)}/feed`, {
          permissions: ["changes.get"],
          ip_allowlist: ["203.0.113.7"],
        }),
    ],
    "its key is rotated without an overlap": [
      401,
      (w) => server.admin("POST", `${keysOf(w)}/feed/rotate`, { overlap_seconds: 0 }),
    ],
    "a manifest replaces its key": [
      401,
      (w) => apply(w, { api_keys: [{ name: "test", key: `new-${w.key}`, permissions: ["all"] }] }),
    ],
    "its workspace is deleted": [
      401,
      (w) => server.admin("DELETE", `/admin/v1/workspaces/${w.name}`),
    ],
  };
  for (const [when, [status, end]] of Object.entries(ends)) {
    test(`a long poll ends with ${status} when ${when}`, async () => {
      const workspace = await withFeed();
      const made = await server.admin("POST", keysOf(workspace), {
        name: "feed",
        permissions: ["changes.get"],
      });
      const key = when.startsWith("a manifest") ? workspace.key : made.body.key;
      const poll = waitsAt.send("GET", `/changes?${WAIT}`, undefined, { key });
      const other = waitsAt.send("GET", "/changes?wait_s=3&types=sync.finished", undefined, {
        key: workspace.key,
      });
      await started(() => waitsAt.send("GET", "/changes", undefined, { key }));
      const ended = await end(workspace);
      assert.equal(ended.status, 200, JSON.stringify(ended.body));
      assert.equal((await poll).status, status);
      const isAlone = workspace.key !== key && !when.startsWith("its workspace");
      assert.equal((await other).status, isAlone ? 200 : 401);
    });
  }
});

describe("a long poll of a person", () => {
  const may = (name: string, permissions: readonly string[]) => ({
    companyPermissions: [],
    appGroup: [{ appGroupName: name, appGroupPermissions: permissions }],
  });

  async function person({ name }: TestWorkspace) {
    const user = await scim.user({ permissions: may(name, ["export_user_data", "view_pii"]) });
    provider.signsIn({ email: user.userName, email_verified: true });
    const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
    return { ...(await continueSession(server, cookie)), id: String(user.id) };
  }
  type Someone = Awaited<ReturnType<typeof person>>;

  const ends: Record<
    string,
    [status: number, how: (someone: Someone, workspace: TestWorkspace) => Promise<Answer<any>>]
  > = {
    "the person signs out": [401, ({ call }) => call("DELETE", "/dashboard/session")],
    "the person is removed": [
      401,
      ({ id }) => server.admin("DELETE", `/admin/v1/dashboard-users/${id}`),
    ],
    "the identity provider deactivates the person": [
      401,
      ({ id }) => scim.patch(id, { op: "replace", path: "active", value: false }),
    ],
    "the person loses a permission": [
      403,
      ({ id }, { name }) =>
        scim.patch(id, { op: "replace", path: "permissions", value: may(name, ["view_pii"]) }),
    ],
    "the workspace is deleted": [
      403,
      (_, { name }) => server.admin("DELETE", `/admin/v1/workspaces/${name}`),
    ],
  };
  for (const [when, [status, end]] of Object.entries(ends)) {
    test(`a long poll of a person ends with ${status} when ${when}`, async () => {
      const workspace = await withFeed();
      const someone = await person(workspace);
      const path = `/admin/v1/workspaces/${workspace.name}/changes`;
      const send = (query = "") =>
        waitsAt.send("GET", path + query, undefined, { headers: { cookie: someone.cookie } });
      const poll = send(`?${WAIT}`);
      await started(send);
      const { status: ended, body } = await end(someone, workspace);
      assert.ok(ended < 300, JSON.stringify(body));
      assert.equal((await poll).status, status);
    });
  }

  test("a long poll of the administrator ends when its workspace is deleted and created again under its name", async () => {
    const workspace = await withFeed();
    const { cookie } = await signIn(server);
    const path = `/admin/v1/workspaces/${workspace.name}/changes`;
    const send = (query = "") =>
      server.send("GET", path + query, undefined, { headers: { cookie } });
    const poll = send(`?${WAIT}`);
    await started(send);
    await server.admin("DELETE", `/admin/v1/workspaces/${workspace.name}`);
    await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Acme" },
      workspaces: [{ name: workspace.name, settings: { change_feed: true } }],
    });
    assert.ok([404, 410].includes((await poll).status));
  });
});

test("the end of a long poll counts as no failed attempt of its address", {
  skip: ENGINE !== "postgres",
}, async () => {
  const workspace = await withFeed();
  const keys = `/admin/v1/workspaces/${workspace.name}/api-keys`;
  const { body } = await server.admin("POST", keys, { name: "feed", permissions: ["changes.get"] });
  const strict = await startOwnServer({ databaseUrl: server.config.databaseUrl, maxFailedAuth: 1 });
  const poll = (query = "") => strict.send("GET", `/changes${query}`, undefined, { key: body.key });
  const polls = [1, 2, 3].map(() => poll(`?${WAIT}`));
  await started(poll);
  await server.admin("DELETE", `${keys}/feed`);
  for (const { status } of await Promise.all(polls)) assert.equal(status, 401);
  assert.equal((await strict.send("GET", "/changes", undefined, { key: "wrong" })).status, 401);
  assert.equal((await strict.send("GET", "/changes", undefined, { key: "wrong" })).status, 429);
});
