/*
 * How tests talk SCIM: a company with a token, a workspace with teams, and a client that checks of every
 * answer that it is SCIM (media type, headers that forbid caching, and the error schema of RFC 7644, 3.12, for a refusal).
 */
import assert from "node:assert/strict";
import type { Answer, CallOptions, TestServer } from "./harness.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";
export const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

export const TOKEN = {
  name: "idp",
  token: "scim-secret",
  service_origin: "acme.example",
  company_permissions: ["admin", "manage_company_settings", "add_remove_app_groups"],
};

export const WORKSPACE = {
  name: "demo",
  teams: [{ name: "Red", id: "team-red" }, { name: "Blue" }],
  api_keys: [{ name: "dev", key: "dev-key", permissions: ["all"] }],
};

export const PERMISSION_SETS = [{ name: "Marketers", permissions: ["basic_access"] }];

export interface ScimClient {
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer<any>>;
  /** Calls `/scim/v2/Users` and the paths below it. */
  users(method: string, path: string, body?: unknown): Promise<Answer<any>>;
  /** Makes a user who must be taken. */
  user(members?: Record<string, unknown>): Promise<Record<string, any>>;
  patch(id: string, ...operations: unknown[]): Promise<Answer<any>>;
  list(query: Record<string, string>): Promise<Answer<any>>;
}

/** Applies a manifest with one workspace; `company` is laid over a token and permission sets. */
export async function declare(
  server: TestServer,
  company: Record<string, unknown> = {},
  workspaces: unknown[] = [WORKSPACE],
): Promise<Answer<any>> {
  return server.admin("POST", "/admin/v1/apply", {
    company: { name: "Acme", scim_tokens: [TOKEN], permission_sets: PERMISSION_SETS, ...company },
    workspaces,
  });
}

/** A client with the token of the company. */
export function scimClient(server: TestServer): ScimClient {
  const call: ScimClient["call"] = async (method, path, body, options = {}) => {
    const headers = { "x-request-origin": TOKEN.service_origin, ...options.headers };
    const answer = await server.send(method, path, body, { key: TOKEN.token, ...options, headers });
    assertScim(answer);
    return answer;
  };
  const users: ScimClient["users"] = (method, path, body) =>
    call(method, `/scim/v2/Users${path}`, body);
  return {
    call,
    users,
    async user(members) {
      const { status, body } = await users("POST", "", newUser(members));
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    },
    patch: (id, ...Operations) => users("PATCH", `/${id}`, { schemas: [PATCH_SCHEMA], Operations }),
    list: (query) => users("GET", `?${new URLSearchParams(query)}`),
  };
}

let made = 0;

/** A body that is taken, with an address of its own. */
export const newUser = (members: Record<string, unknown> = {}) => ({
  schemas: [USER_SCHEMA],
  userName: `user${++made}@acme.example`,
  name: { givenName: "Ada", familyName: "Lovelace" },
  department: "engineering",
  permissions: {
    companyPermissions: ["manage_company_settings"],
    appGroup: [{ appGroupName: "demo", appGroupPermissions: ["basic_access"] }],
  },
  ...members,
});

/** Whether a SCIM client can read a response. */
export function assertScim({ status, headers, body }: Answer<any>): void {
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  if (status === 204) {
    assert.equal(body, "");
    return;
  }
  assert.match(headers.get("content-type") ?? "", /^application\/scim\+json/);
  if (status < 400) return;
  assert.deepEqual(body.schemas, [ERROR_SCHEMA]);
  assert.equal(body.status, status);
  assert.ok(typeof body.detail === "string" && body.detail.length > 0);
}

/** A refusal by its status and its keyword. */
export function assertRefused(
  { status, body }: Answer<any>,
  expected: number,
  scimType?: string,
  detail?: string | RegExp,
): void {
  assert.deepEqual([status, body.scimType], [expected, scimType], JSON.stringify(body));
  if (typeof detail === "string") assert.equal(body.detail, detail);
  if (detail instanceof RegExp) assert.match(body.detail, detail);
}
