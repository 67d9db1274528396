/* SCIM tokens have the same life as API keys (api-keys.test.ts): one machinery keeps both. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../../harness.ts";

const server = await startOwnServer();
const workspace = await server.workspace();

const PATH = "/admin/v1/scim-tokens";

const ORIGIN = "acme.example";

const statusWith = async (token: string, origin: string | undefined = ORIGIN): Promise<number> => {
  const headers = origin === undefined ? {} : { "x-request-origin": origin };
  return (await server.send("GET", "/scim/v2/Users", undefined, { key: token, headers })).status;
};

const opens = async (token: string): Promise<boolean> => (await statusWith(token)) === 200;

let made = 0;

async function created(grant: object = {}) {
  const name = `token-${++made}`;
  const answer = await server.admin("POST", PATH, { name, service_origin: ORIGIN, ...grant });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return { name, token: answer.body.token as string };
}

async function listed(name: string) {
  const { body } = await server.admin("GET", PATH);
  return body.scim_tokens.find((token: { name: string }) => token.name === name);
}

const apply = (scim_tokens: readonly object[]) =>
  server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test", scim_tokens },
    workspaces: [],
  });

const auditOf = async (name: string) => {
  const { body } = await server.admin("GET", `/admin/v1/audit?kind=scim_token&name=${name}`);
  return body.entries as { action: string; details: Record<string, unknown> | null }[];
};

/** Sends a request of SCIM with a token. */
const scim = (token: string, method: string, path: string, body: unknown) =>
  server.send(method, `/scim/v2/Users${path}`, body, {
    key: token,
    headers: { "x-request-origin": ORIGIN },
  });

const personWith = (companyPermissions: readonly string[], more: object = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName: `person-${++made}@example.com`,
  name: { givenName: "Ada", familyName: "Lovelace" },
  department: "engineering",
  permissions: { companyPermissions, appGroup: [] },
  ...more,
});

describe("what a SCIM token may grant", () => {
  test("by default a SCIM token creates no company admin, and grants the permissions of the specification", async () => {
    const { name, token } = await created();
    assert.deepEqual((await listed(name)).company_permissions, ["manage_company_settings"]);
    const shown = await scim(token, "POST", "", personWith(["manage_company_settings"]));
    assert.equal(shown.status, 201, JSON.stringify(shown.body));
    for (const refused of ["admin", "add_remove_app_groups"]) {
      const { status, body } = await scim(token, "POST", "", personWith([refused]));
      assert.equal(status, 403);
      assert.match(body.detail, new RegExp(`may not grant the company permission '${refused}'`));
    }
  });

  test("a SCIM token makes no existing or inactive user a company admin, and may take the permission away", async () => {
    const [usual, full] = [await created(), await created({ company_permissions: ["admin"] })];
    const admin = await scim(full.token, "POST", "", personWith(["admin"]));
    assert.equal(admin.status, 201, JSON.stringify(admin.body));
    const plain = await scim(usual.token, "POST", "", personWith([]));
    const patch = (token: string, id: string, value: object) =>
      scim(token, "PATCH", `/${id}`, {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        Operations: [{ op: "replace", value }],
      });
    const permissions = { companyPermissions: ["admin"], appGroup: [] };
    assert.equal((await patch(usual.token, plain.body.id, { permissions })).status, 403);
    const put = personWith(["admin"], { userName: plain.body.userName });
    assert.equal((await scim(usual.token, "PUT", `/${plain.body.id}`, put)).status, 403);
    const { id } = admin.body;
    assert.equal((await patch(usual.token, id, { department: "marketing" })).status, 200);
    assert.equal((await patch(usual.token, id, { active: false })).status, 200);
    assert.equal((await patch(usual.token, id, { active: true })).status, 403);
    assert.equal((await patch(full.token, id, { active: true })).status, 200);
    const none = { companyPermissions: [], appGroup: [] };
    assert.equal((await patch(usual.token, id, { permissions: none })).status, 200);
    assert.equal((await patch(usual.token, id, { permissions })).status, 403);
  });

  test("a changed list takes effect at once, and the permissions that the company declares for every new user are granted", async () => {
    const { name, token } = await created({ company_permissions: [] });
    const person = () => scim(token, "POST", "", personWith(["manage_company_settings"]));
    assert.equal((await person()).status, 403);
    const grant = { service_origin: ORIGIN, require_origin: true };
    const company_permissions = ["manage_company_settings"];
    const changed = { ...grant, company_permissions };
    assert.equal((await server.admin("PUT", `${PATH}/${name}`, changed)).status, 200);
    assert.equal((await person()).status, 201);
    const permissions = { companyPermissions: ["add_remove_app_groups"], appGroup: [] };
    const defaults = { department: "engineering", permissions };
    const put = await server.admin("PUT", "/admin/v1/scim-defaults", defaults);
    assert.equal(put.status, 200, JSON.stringify(put.body));
    const { permissions: _, ...byDefault } = personWith([]);
    const { status, body } = await scim(token, "POST", "", byDefault);
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(body.permissions, permissions);
  });
});

describe("SCIM tokens in the admin API", () => {
  test("a created SCIM token gives access to SCIM from its origin, and its secret is never shown again", async () => {
    const answer = await server.admin("POST", PATH, { name: "okta", service_origin: ORIGIN });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const { token } = answer.body;
    assert.equal(await statusWith(token), 200);
    assert.equal(await statusWith(token, "elsewhere.example"), 403);
    const list = await server.admin("GET", PATH);
    const audit = await server.admin("GET", "/admin/v1/audit");
    for (const shown of [list.body, audit.body]) {
      assert.ok(!JSON.stringify(shown).includes(token));
    }
  });

  test("a SCIM token that does not require its origin works without it", async () => {
    const { token } = await created({ require_origin: false });
    assert.equal(await statusWith(token, undefined), 200);
  });

  test("the list of SCIM tokens shows the origin, the creation time and the last use", async () => {
    const { name, token } = await created();
    const before = await listed(name);
    assert.deepEqual(
      [before.service_origin, before.require_origin, before.declared, before.last_seen_at],
      [ORIGIN, true, false, null],
    );
    assert.ok(await opens(token));
    const after = await listed(name);
    assert.ok(Date.parse(after.last_seen_at) >= Date.parse(before.created_at));
    assert.equal(after.created_at, before.created_at);
  });

  test("a SCIM token that is refused for its origin does not count as used", async () => {
    const { name, token } = await created();
    assert.equal(await statusWith(token, "elsewhere.example"), 403);
    assert.equal((await listed(name)).last_seen_at, null);
  });

  test("both secrets of a rotated SCIM token work until the overlap ends, and no older one does", async () => {
    const { name, token: first } = await created();
    const rotate = (body: object) => server.admin("POST", `${PATH}/${name}/rotate`, body);
    const { status, body } = await rotate({});
    assert.equal(status, 200);
    assert.deepEqual([await opens(first), await opens(body.token)], [true, true]);
    assert.equal((await listed(name)).previous_token_until, body.previous_token_until);
    const third = (await rotate({ overlap_seconds: 60 })).body.token;
    assert.deepEqual(
      [await opens(first), await opens(body.token), await opens(third)],
      [false, true, true],
    );
    const last = (await rotate({ overlap_seconds: 0 })).body.token;
    assert.deepEqual([await opens(third), await opens(last)], [false, true]);
  });

  test("a changed origin of a SCIM token takes effect immediately, and its secret stays valid", async () => {
    const { name, token } = await created();
    const grant = { service_origin: "other.example", require_origin: true };
    assert.equal((await server.admin("PUT", `${PATH}/${name}`, grant)).status, 200);
    assert.equal(await statusWith(token), 403);
    assert.equal(await statusWith(token, "other.example"), 200);
  });

  test("a revoked SCIM token stops working immediately, and its name can be reused", async () => {
    const { name, token } = await created();
    const newer = (await server.admin("POST", `${PATH}/${name}/rotate`, {})).body.token;
    assert.equal((await server.admin("DELETE", `${PATH}/${name}`)).status, 200);
    assert.deepEqual([await statusWith(token), await statusWith(newer)], [401, 401]);
    assert.ok((await listed(name)).revoked_at);
    const rotated = await server.admin("POST", `${PATH}/${name}/rotate`, {});
    assert.deepEqual(
      [rotated.status, rotated.body.message],
      [409, `The SCIM token '${name}' is revoked.`],
    );
    const again = await server.admin("POST", PATH, { name, service_origin: ORIGIN });
    assert.deepEqual([await opens(token), await opens(again.body.token)], [false, true]);
  });

  test("a duplicate SCIM token name, an unknown token and an invalid request are refused", async () => {
    const { name } = await created();
    const taken = await server.admin("POST", PATH, { name, service_origin: ORIGIN });
    assert.deepEqual(
      [taken.status, taken.body.message],
      [409, `There is a SCIM token '${name}' of the company already.`],
    );
    const unknown = await server.admin("DELETE", `${PATH}/nobody`);
    assert.deepEqual(
      [unknown.status, unknown.body.message],
      [404, "There is no SCIM token 'nobody' of the company."],
    );
    for (const [body, message] of [
      [{ name: "a" }, /'service_origin' is required/],
      [{ name: "a", service_origin: "" }, /'service_origin'/],
      [{ name: "a", service_origin: ORIGIN, token: "my-own" }, /unknown key: 'token'/],
    ] as const) {
      const answer = await server.admin("POST", PATH, body);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, message);
    }
  });

  test("every change of a SCIM token leaves a row in the audit", async () => {
    const { name } = await created();
    const grant = { service_origin: "other.example", require_origin: false };
    await server.admin("PUT", `${PATH}/${name}`, grant);
    await server.admin("POST", `${PATH}/${name}/rotate`, {});
    await server.admin("DELETE", `${PATH}/${name}`);
    await server.admin("DELETE", `${PATH}/${name}`);
    const entries = await auditOf(name);
    assert.deepEqual(
      entries.map((entry) => entry.action),
      ["revoked", "rotated", "updated", "created"],
    );
    const company_permissions = ["manage_company_settings"];
    assert.deepEqual(entries[2]?.details, { ...grant, company_permissions });
  });
});

describe("SCIM tokens in a manifest", () => {
  const idp = (token: string, more: object = {}) => ({
    name: "idp",
    token,
    service_origin: ORIGIN,
    ...more,
  });

  test("the previous SCIM token of a manifest works until previous_token_until", async () => {
    const until = (ms: number) => new Date(Date.now() + ms).toISOString();
    const rotating = (previous_token_until: string) =>
      idp("manifest-b", { previous_token: "manifest-a", previous_token_until });
    await apply([idp("manifest-a")]);
    assert.equal((await apply([rotating(until(60_000))])).status, 200);
    assert.deepEqual([await opens("manifest-a"), await opens("manifest-b")], [true, true]);
    await apply([rotating(until(-1_000))]);
    assert.deepEqual([await opens("manifest-a"), await opens("manifest-b")], [false, true]);
    const half = await apply([idp("manifest-c", { previous_token: "manifest-b" })]);
    assert.match(half.body.message, /both 'previous_token' and 'previous_token_until', or neither/);
  });

  test("applying the same manifest again does not undo the rotation or revocation of a SCIM token", async () => {
    await apply([idp("manifest-d")]);
    const rotated = await server.admin("POST", `${PATH}/idp/rotate`, { overlap_seconds: 0 });
    assert.deepEqual((await apply([idp("manifest-d")])).body.changes, []);
    assert.deepEqual([await opens("manifest-d"), await opens(rotated.body.token)], [false, true]);
    await server.admin("DELETE", `${PATH}/idp`);
    await apply([idp("manifest-d", { require_origin: false })]);
    assert.deepEqual([await opens("manifest-d"), await opens(rotated.body.token)], [false, false]);
    await apply([idp("manifest-e")]);
    assert.equal(await opens("manifest-e"), true);
  });

  test("the secret of a revoked SCIM token cannot be reused under another name or as an API key", async () => {
    await apply([idp("manifest-f")]);
    await server.admin("DELETE", `${PATH}/idp`);
    const renamed = await apply([{ ...idp("manifest-f"), name: "other" }]);
    assert.equal(renamed.status, 409);
    const asKey = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [
        {
          name: workspace.name,
          api_keys: [{ name: "test", key: "manifest-f", permissions: ["all"] }],
        },
      ],
    });
    assert.equal(asKey.status, 409);
    assert.match(asKey.body.message, /has a secret that is already in use/);
  });

  test("a SCIM token dropped from the manifest stops working; one created in the admin API stays", async () => {
    const { token } = await created();
    await apply([idp("manifest-g")]);
    await apply([]);
    assert.deepEqual([await opens("manifest-g"), await opens(token)], [false, true]);
  });
});
