/*
 * Working requests for the endpoints with which an administrator manages declared resources. Each
 * changes something (audit-coverage.test.ts), in a separate workspace if others would notice.
 */
import { randomUUID } from "node:crypto";
import { addColleague, enter } from "./colleagues.ts";
import type { Answer, TestServer, TestWorkspace } from "./harness.ts";

export interface Sample {
  /** The parameters of the path; `name` is the workspace's if it is not given. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** In the place of a JSON body. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Samples = Readonly<Record<string, () => Sample | Promise<Sample>>>;

/** Sends a request about the workspace of the samples, which must be taken. */
export type Admin = (
  method: string,
  path: string,
  options?: { body?: unknown; raw?: string; headers?: Record<string, string> },
) => Promise<Answer<any>>;

/** It sends nothing automatically, and its receiver does not exist. */
const WEBHOOK = { name: "CRM", url: "https://crm.invalid/rapport", state: "paused" };

/** Actions on a webhook, most of them in a separate workspace. */
export const ofWebhooks = (server: TestServer, workspace: TestWorkspace): Samples => {
  const PATH = "/admin/v1/workspaces/:name/webhooks/:id";
  const ofWebhook = (body?: unknown) => async () => {
    const params = { name: randomUUID(), id: randomUUID() };
    await server.admin("PUT", `/admin/v1/workspaces/${params.name}`, {});
    await server.admin("PUT", `/admin/v1/workspaces/${params.name}/webhooks/${params.id}`, WEBHOOK);
    return { params, body };
  };
  const withDeadLetter = async () => {
    const { params } = await ofWebhook()();
    const letter = randomUUID();
    await server.database.query(
      `insert into webhook_dead_letters (workspace_id, webhook_id, dead_letter_id, message_id, partition, position,
         change_id, type, status, at)
       select workspace_id, $1, $2, 'msg_1', 0, 1, 'c', 'user.updated', 422, now() from workspaces where name = $3`,
      [params.id, letter, params.name],
    );
    return { params: { ...params, dead_letter_id: letter } };
  };
  return {
    [`GET ${PATH}/deliveries`]: async () => {
      const id = randomUUID();
      await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/webhooks/${id}`, WEBHOOK);
      return { params: { id } };
    },
    [`GET ${PATH}/dead-letters`]: ofWebhook(),
    [`DELETE ${PATH}/dead-letters/:dead_letter_id`]: withDeadLetter,
    [`POST ${PATH}/test`]: ofWebhook(),
    [`POST ${PATH}/replay`]: ofWebhook({ from: "beginning" }),
    [`POST ${PATH}/rotate-secret`]: ofWebhook({ overlap_seconds: 60 }),
  };
};

/** The resources of a manifest, one at a time. */
export const ofDeclared = (server: TestServer): Samples => {
  const put = async (path: string, body: unknown) => {
    const answer = await server.admin("PUT", `/admin/v1${path}`, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  /** A separate workspace, because others rely on the settings of theirs. */
  const ofNewWorkspace = (body?: unknown) => async () => {
    const name = randomUUID();
    await put(`/workspaces/${name}`, {});
    return { params: { name }, body };
  };
  const newWorkspace = (body: unknown) => () => ({ params: { name: randomUUID() }, body });
  const settings = { track_max_updates: 10 };
  const PATH = "/admin/v1/workspaces/:name";
  /** An entry of a list in a separate workspace, or of the company. */
  const ofList = (path: string, entry: object, patch: object): Samples => {
    const withEntry = (body?: unknown) => async () => {
      const [name, id] = [randomUUID(), randomUUID()];
      await put(`/workspaces/${name}`, {});
      await put(`${path.replace("/admin/v1", "").replace(":name", name)}/${id}`, entry);
      return { params: { name, id }, body };
    };
    return {
      [`GET ${path}`]: ofNewWorkspace(),
      [`GET ${path}/:id`]: withEntry(),
      [`PUT ${path}/:id`]: async () => {
        const { params } = await ofNewWorkspace()();
        return { params: { ...params, id: randomUUID() }, body: entry };
      },
      [`PATCH ${path}/:id`]: withEntry(patch),
      [`DELETE ${path}/:id`]: withEntry(),
    };
  };
  const newDomains = async () => {
    await put("/mail-domains", { mail_domains: [] });
    return { body: { mail_domains: ["acme.example"] } };
  };
  const newSignIn = async () => {
    await put("/sign-in", { local: false });
    return { body: { local: true } };
  };
  const newDefaults = async () => {
    await put("/scim-defaults", {});
    return { body: { department: "engineering" } };
  };
  return {
    "GET /admin/v1/company": () => ({}),
    "PUT /admin/v1/company": () => ({ body: { name: randomUUID() } }),
    "PATCH /admin/v1/company": () => ({ body: { name: randomUUID() } }),
    "GET /admin/v1/workspaces": () => ({}),
    [`GET ${PATH}`]: () => ({}),
    [`PUT ${PATH}`]: newWorkspace({ allow_reset: true, settings }),
    [`PATCH ${PATH}`]: ofNewWorkspace({ settings }),
    [`DELETE ${PATH}`]: ofNewWorkspace(),
    [`GET ${PATH}/settings`]: () => ({}),
    [`PUT ${PATH}/settings`]: ofNewWorkspace(settings),
    [`PATCH ${PATH}/settings`]: ofNewWorkspace(settings),
    ...ofList(`${PATH}/apps`, { name: "Web", platform: "web" }, { name: "Site" }),
    ...ofList(
      `${PATH}/subscription-groups`,
      { name: "Sample", channel: "email" },
      { name: "News" },
    ),
    ...ofList(
      `${PATH}/segments`,
      { name: "Sample", filter: { all: [{ event: "signed_up" }] } },
      { tags: ["loyalty"] },
    ),
    ...ofList(`${PATH}/webhooks`, WEBHOOK, { types: ["user.deleted"] }),
    ...ofList(`${PATH}/teams`, {}, { id: "other" }),
    ...ofList(
      "/admin/v1/permission-sets",
      { permissions: ["basic_access"] },
      { permissions: ["view_pii"] },
    ),
    ...ofList(
      "/admin/v1/connections",
      { type: "files", root: "/srv", workspaces: [] },
      { workspaces: ["shop"] },
    ),
    [`GET ${PATH}/sources`]: () => ({}),
    "GET /admin/v1/source-kinds": () => ({}),
    "GET /admin/v1/mail-domains": () => ({}),
    "PUT /admin/v1/mail-domains": newDomains,
    "PATCH /admin/v1/mail-domains": newDomains,
    "GET /admin/v1/sign-in": () => ({}),
    "PUT /admin/v1/sign-in": newSignIn,
    "PATCH /admin/v1/sign-in": newSignIn,
    "GET /admin/v1/scim-defaults": () => ({}),
    "PUT /admin/v1/scim-defaults": newDefaults,
    "PATCH /admin/v1/scim-defaults": newDefaults,
  };
};

export const ofScimTokens = (server: TestServer): Samples => {
  const PATH = "/admin/v1/scim-tokens";
  const newToken = () => ({ name: randomUUID(), service_origin: "acme.example" });
  const ofToken = (body?: unknown) => async () => {
    const token = newToken();
    const answer = await server.admin("POST", PATH, token);
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return { params: { token: token.name }, body };
  };
  return {
    [`GET ${PATH}`]: () => ({}),
    [`POST ${PATH}`]: () => ({ body: newToken() }),
    [`PUT ${PATH}/:token`]: ofToken({ service_origin: "other.example", require_origin: false }),
    [`PATCH ${PATH}/:token`]: ofToken({ require_origin: false }),
    [`POST ${PATH}/:token/rotate`]: ofToken({ overlap_seconds: 60 }),
    [`DELETE ${PATH}/:token`]: ofToken(),
  };
};

export const ofDashboardUsers = (server: TestServer): Samples => {
  const PATH = "/admin/v1/dashboard-users";
  const newPerson = () => ({
    user_name: `${randomUUID()}@acme.example`,
    given_name: "Ada",
    family_name: "Lovelace",
    department: "engineering",
  });
  const ofPerson = (body?: unknown) => async () => {
    const { status, body: made } = await server.admin("POST", PATH, newPerson());
    if (status !== 201) throw new Error(JSON.stringify(made));
    return { params: { id: made.person.id }, body };
  };
  return {
    [`GET ${PATH}`]: () => ({}),
    [`POST ${PATH}`]: () => ({ body: newPerson() }),
    [`GET ${PATH}/:id`]: ofPerson(),
    [`PATCH ${PATH}/:id`]: ofPerson({ active: false }),
    [`DELETE ${PATH}/:id`]: ofPerson(),
    [`DELETE ${PATH}/:id/sessions`]: ofPerson(),
    [`POST ${PATH}/:id/invitations`]: ofPerson(),
    [`GET ${PATH}/:id/credentials`]: ofPerson(),
    [`DELETE ${PATH}/:id/credentials`]: ofPerson(),
    [`DELETE ${PATH}/:id/sessions/:session`]: async () => {
      const person = await addColleague(server);
      const { body } = await (await enter(server, person)).call("GET", "/dashboard/credentials");
      return { params: { id: person.id, session: body.sessions[0].id } };
    },
  };
};

export const ofApiKeys = (admin: Admin): Samples => {
  const PATH = "/admin/v1/workspaces/:name/api-keys";
  const newKey = () => ({ name: randomUUID(), permissions: ["users.track"] });
  const ofKey = (body?: unknown) => async () => {
    const key = newKey();
    await admin("POST", "/api-keys", { body: key });
    return { params: { key: key.name }, body };
  };
  return {
    [`GET ${PATH}`]: () => ({}),
    [`POST ${PATH}`]: () => ({ body: newKey() }),
    [`PUT ${PATH}/:key`]: ofKey({ permissions: ["users.delete"], ip_allowlist: [] }),
    [`PATCH ${PATH}/:key`]: ofKey({ permissions: ["users.delete"] }),
    [`POST ${PATH}/:key/rotate`]: ofKey({ overlap_seconds: 60 }),
    [`DELETE ${PATH}/:key`]: ofKey(),
    "GET /admin/v1/audit": () => ({}),
    "GET /admin/v1/audit.csv": () => ({}),
    "GET /admin/v1/audit/export": () => ({ query: { limit: "10" } }),
    "GET /admin/v1/audit/verify": () => ({}),
    "GET /admin/v1/workspaces/:name/captured": () => ({}),
    "DELETE /admin/v1/workspaces/:name/captured": () => ({}),
    "GET /admin/v1/secret-key": () => ({}),
    "POST /admin/v1/engine-copies": () => ({}),
    "DELETE /admin/v1/engine-copies/:id": () => ({ params: { id: randomUUID() } }),
    "POST /admin/v1/secret-key/rotate": () => ({}),
  };
};
