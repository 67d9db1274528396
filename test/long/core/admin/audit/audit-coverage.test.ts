/*
 * Every endpoint by which an administrator or an identity provider changes something leaves a row in the
 * audit. The cases follow from the declarations; the requests come from sample-requests.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Contract, pathsOf } from "../../../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../../../src/server/assembled.ts";
import { startOwnServer } from "../../../../harness.ts";
import {
  pathOf,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../../../../sample-requests.ts";

/** Endpoints that write and leave no row, each with the reason. */
const WITHOUT_ROW: Readonly<Record<string, string>> = {
  "POST /admin/v1/engine-copies":
    "It leaves a row if the engine has a folder, and the server of these tests has none.",
  "DELETE /admin/v1/engine-copies/:id": "It removes a copy whose creation left a row.",
  "POST /admin/v1/workspaces/:name/preference-centers/:id/preview-link":
    "It changes nothing, and the link shows no user's data.",
  "POST /admin/v1/workspaces/:name/segments/count": "It changes nothing and shows only numbers.",
  "POST /admin/v1/workspaces/:name/integrations/:integration_id/sync":
    "It changes no declaration; it starts a run, which is recorded itself.",
  "POST /admin/v1/workspaces/:name/integrations/:integration_id/tables":
    "It changes nothing and shows names of tables, no rows.",
};

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

const nameOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

const writing = ENDPOINTS.map((endpoint) => endpoint.contract).filter(
  ({ method, access }) => method !== "GET" && ["administrator", "scim"].includes(access.by),
);

interface Entry {
  readonly request_id: string | null;
  readonly call: string | null;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly address: string | null;
}

/** Sends the sample of an endpoint. @returns the audit rows, and the request. */
async function rowsOf(contract: Contract): Promise<{ rows: Entry[]; body: unknown }> {
  const sample = (await samples[nameOf(contract)]?.()) ?? {};
  const path = pathOf(pathsOf(contract)[0] ?? "", workspace.name, sample);
  const answer = await server.send(contract.method, path, sample.body, {
    key: contract.access.by === "scim" ? SCIM_TOKEN : server.adminToken,
    ...(sample.headers && { headers: sample.headers }),
    ...(sample.raw !== undefined && { raw: sample.raw }),
  });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  const requestId = answer.headers.get("x-request-id");
  const { body } = await server.admin("GET", "/admin/v1/audit?limit=1000");
  const rows = (body.entries as Entry[]).filter((entry) => entry.request_id === requestId);
  return { rows, body: sample.body };
}

describe("an administrative or SCIM change leaves an audit row with the actor, the call and the address", () => {
  for (const contract of writing) {
    if (nameOf(contract) in WITHOUT_ROW) continue;
    test(nameOf(contract), async () => {
      const { rows } = await rowsOf(contract);
      assert.ok(
        rows.length > 0,
        "Call recordChanges in the transaction of the change, and let the sample request change " +
          "something; or say in WITHOUT_ROW why there is nothing to record.",
      );
      const byScim = contract.access.by === "scim";
      for (const { call, actor, actor_name, address } of rows) {
        assert.deepEqual(
          [call, actor, actor_name, address],
          [nameOf(contract), contract.access.by, byScim ? "idp" : null, "127.0.0.1"],
        );
      }
    });
  }

  test("every endpoint that is exempt from the audit exists", () => {
    const names = writing.map(nameOf);
    for (const name of Object.keys(WITHOUT_ROW)) assert.ok(names.includes(name), name);
  });
});

/** Endpoints of the administrator that show data of the users of a workspace. */
const SHOWS_USERS = [
  "GET /admin/v1/workspaces/:name/identity-audit",
  "GET /admin/v1/workspaces/:name/merges",
  "GET /admin/v1/workspaces/:name/subscription-history",
  "GET /admin/v1/workspaces/:name/joined-spellings",
  "GET /admin/v1/workspaces/:name/integrations/:integration_id/runs/:run_id/rows",
  "GET /admin/v1/workspaces/:name/preference-centers/:id/preview",
  "GET /admin/v1/workspaces/:name/export/:kind",
  "GET /admin/v1/workspaces/:name/captured",
  "GET /admin/v1/workspaces/:name/users",
  "GET /admin/v1/workspaces/:name/users/:id",
  "GET /admin/v1/workspaces/:name/users/:id/timeline",
  "GET /admin/v1/workspaces/:name/users/:id/segments",
  "GET /admin/v1/workspaces/:name/attribute-values",
  "GET /admin/v1/workspaces/:name/event-properties",
  "GET /admin/v1/workspaces/:name/catalogue/occurrences",
  "GET /admin/v1/workspaces/:name/changes",
  "GET /admin/v1/workspaces/:name/webhooks/:id/deliveries",
  "GET /admin/v1/workspaces/:name/requests",
  "GET /admin/v1/workspaces/:name/requests/:id",
  "GET /admin/v1/workspaces/:name/requests/stream",
];

/** Endpoints that show declarations, states, or the audit itself. */
const SHOWS_NO_USERS = [
  "/company",
  "/audit.csv",
  "/sign-in",
  "/dashboard-users/:id/credentials",
  "/workspaces",
  "/workspaces/:name",
  "/workspaces/:name/settings",
  "/workspaces/:name/overview",
  "/workspaces/:name/customers",
  "/workspaces/:name/customers/event",
  "/workspaces/:name/manifest",
  "/workspaces/:name/apps",
  "/workspaces/:name/subscription-groups",
  "/workspaces/:name/teams",
  "/workspaces/:name/segments",
  "/workspaces/:name/webhooks",
  "/workspaces/:name/webhooks/:id/dead-letters",
  "/workspaces/:name/segments/counts",
  "/workspaces/:name/segments/counts/:count_id",
  "/workspaces/:name/segment-sizes",
  "/workspaces/:name/user-count",
  "/workspaces/:name/catalogue",
  "/workspaces/:name/api-keys",
  "/workspaces/:name/integrations",
  "/workspaces/:name/integrations/:integration_id/runs",
  "/workspaces/:name/campaigns",
  "/workspaces/:name/canvases",
  "/workspaces/:name/locales",
  "/workspaces/:name/messages",
  "/workspaces/:name/imports",
  "/workspaces/:name/messages/:id/render",
  "/workspaces/:name/messages/:id/translations.csv",
  "/workspaces/:name/messages/:id/translations.xliff",
  "/workspaces/:name/preference-centers",
  "/connections",
  "/workspaces/:name/sources",
  "/source-kinds",
  "/permission-sets",
  "/mail-domains",
  "/scim-defaults",
  "/scim-tokens",
  "/dashboard-users",
  "/dashboard-users/:id",
  "/integrations",
  "/audit",
  "/audit/export",
  "/audit/verify",
  "/secret-key",
  "/upgrades",
];

describe("a read of users through the admin API leaves a row that says how many, and not who", () => {
  const reading = ENDPOINTS.map((endpoint) => endpoint.contract).filter(
    ({ method, access }) => method === "GET" && access.by === "administrator",
  );

  test("every endpoint that reads says whether it shows users", () => {
    const unknown = reading.map(nameOf).filter((name) => {
      const path = name.replace("GET /admin/v1", "");
      const list = path.replace(/\/:(?!name$)\w+$/, "");
      return (
        !SHOWS_USERS.includes(name) && ![path, list].some((each) => SHOWS_NO_USERS.includes(each))
      );
    });
    assert.deepEqual(
      unknown,
      [],
      "Enter the endpoint in SHOWS_USERS and call recordRead (core/admin/audit/audit.ts), or in SHOWS_NO_USERS.",
    );
  });

  for (const contract of reading.filter((each) => SHOWS_USERS.includes(nameOf(each)))) {
    test(nameOf(contract), async () => {
      const { rows } = await rowsOf(contract);
      const [row] = rows as (Entry & Record<string, any>)[];
      assert.deepEqual([rows.length, row?.action, row?.workspace], [1, "read", workspace.name]);
      assert.deepEqual(Object.keys(row?.details), ["users"]);
      assert.equal(row?.name, workspace.name);
    });
  }
});

describe("audit rows for dashboard users", () => {
  const headers = { "x-request-origin": "acme.example" };
  const scim = (method: string, path: string, body?: unknown) =>
    server.send(method, `/scim/v2/Users${path}`, body, { key: SCIM_TOKEN, headers });
  const user = (members: object = {}) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: "secret.name@acme.example",
    name: { givenName: "Secretgiven", familyName: "Secretfamily" },
    department: "engineering",
    permissions: { companyPermissions: [] },
    ...members,
  });

  test("audit rows for dashboard users hold the user name and the changed attributes, but no other personal data", async () => {
    const { body: made } = await scim("POST", "", user());
    const renamed = user({ name: { givenName: "Other", familyName: "Secretfamily" } });
    await scim("PUT", `/${made.id}`, renamed);
    await scim("PUT", `/${made.id}`, renamed);
    await scim("DELETE", `/${made.id}`);
    await scim("DELETE", `/${made.id}`);
    const { body } = await server.admin("GET", `/admin/v1/audit?name=${made.id}`);
    assert.deepEqual(
      body.entries.map(({ action, kind, details }: any) => [action, kind, details]),
      [
        ["removed", "dashboard_user", { user_name: made.userName }],
        ["updated", "dashboard_user", { changed: ["name"], user_name: made.userName }],
        ["created", "dashboard_user", { user_name: made.userName }],
      ],
    );
    const all = JSON.stringify((await server.admin("GET", "/admin/v1/audit?limit=1000")).body);
    assert.doesNotMatch(all, /Secretgiven|Secretfamily|Other/);
  });

  test("a refused SCIM request leaves no audit row", async () => {
    const answer = await scim("POST", "", user({ userName: "no address" }));
    assert.equal(answer.status, 400);
    const { body: first } = await scim("POST", "", user({ userName: "twice@acme.example" }));
    const again = await scim("POST", "", user({ userName: "TWICE@acme.example" }));
    assert.equal(again.status, 409);
    const { body } = await server.admin("GET", "/admin/v1/audit?kind=dashboard_user&limit=1");
    assert.equal(body.entries[0].name, first.id);
  });
});

test("erasures and imports of user data are audited without identifying the users", async () => {
  const mail = "somebody.private@example.com";
  await workspace.call("POST", "/email/status", { email: mail, subscription_state: "opted_in" });
  await server.admin("DELETE", `/admin/v1/workspaces/${workspace.name}/email-states/${mail}`);
  await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [{ external_id: "private-id", cards_clicked: [{ name: "card" }] }],
  });
  const { body } = await server.admin("GET", `/admin/v1/audit?workspace=${workspace.name}&limit=2`);
  assert.deepEqual(
    body.entries.map(({ action, kind, details }: any) => [action, kind, details]),
    [
      ["imported", "users", { users: 1 }],
      ["erased", "email_state", null],
    ],
  );
  assert.doesNotMatch(JSON.stringify(body), /private/);
});
