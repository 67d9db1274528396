/*
 * One request that works for every endpoint: what every-endpoint.test.ts sends with and without the right
 * to, and hostile-input.test.ts in other forms. The key is the method and the first path as
 * declared. A sample is made again for each request, together with the data that it needs.
 */
import { randomUUID } from "node:crypto";
import {
  type Answer,
  type CallOptions,
  NEWSLETTER,
  type TestServer,
  type TestWorkspace,
} from "./harness.ts";
import {
  type Admin,
  ofApiKeys,
  ofDashboardUsers,
  ofDeclared,
  ofScimTokens,
  ofWebhooks,
  type Sample,
  type Samples,
} from "./sample-administration.ts";
import { ofPreferenceCenters } from "./sample-preference-centers.ts";
import { ofRecords } from "./sample-records.ts";
import { ofSegments } from "./sample-segments.ts";
import { ofSignIn, open } from "./sample-without-key.ts";
import { declare, newUser, PATCH_SCHEMA, scimClient, TOKEN } from "./scim-client.ts";
import {
  FIRST_STEP,
  FRENCH,
  HOLA,
  inCampaign,
  inCanvas,
  ONBOARDING,
  SOURCE,
  SPANISH,
  translatedWorkspace,
  WELCOME,
  WELCOME_MAIL,
  withQuery,
} from "./translated-workspace.ts";

export type { Sample, Samples } from "./sample-administration.ts";

/** The bearer token of the company for SCIM. */
export const SCIM_TOKEN = TOKEN.token;

/** The required data of the sample workspace. */
export function sampleWorkspace() {
  const { settings, ...declared } = translatedWorkspace();
  // Ten a minute are fewer than the tests send.
  const rate_limits = { "preference_center.update": "off" };
  return {
    ...declared,
    settings: { ...settings, change_feed: true, rate_limits },
    integrations: [NOWHERE],
  };
}

/** A sync that ends at once, because its source does not exist. */
const NOWHERE = {
  id: "6e1d3c4a-93b0-4c7e-8a55-0f2b7c9d1e34",
  name: "Nowhere",
  type: "attributes",
  warehouse: { type: "files", url: "/nowhere/users.csv" },
};

/** The path of a sample at one spelling of its endpoint. */
export function pathOf(declaredPath: string, workspace: string, sample: Sample): string {
  const params: Sample["params"] = { name: workspace, ...sample.params };
  const path = declaredPath
    .replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""))
    .replace("*", "");
  return sample.query ? withQuery(path, sample.query) : path;
}

/** Makes the samples; the company of the server gets a SCIM token. */
export async function sampleRequests(
  server: TestServer,
  workspace: TestWorkspace,
): Promise<Samples> {
  await declare(server, {}, []);
  const admin = async (
    method: string,
    path: string,
    options: Pick<CallOptions, "raw" | "headers"> & { body?: unknown } = {},
  ): Promise<Answer<any>> => {
    const { body, ...rest } = options;
    const whole = `/admin/v1/workspaces/${workspace.name}${path}`;
    const answer = await server.send(method, whole, body, { key: server.adminToken, ...rest });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  };
  return {
    ...open,
    ...ofUsers,
    ...ofWorkspaces(server, workspace),
    ...ofRecords(server, workspace),
    ...ofSegments(server, workspace),
    ...ofDeclared(server),
    ...ofWebhooks(server, workspace),
    ...ofApiKeys(admin),
    ...ofScimTokens(server),
    ...ofDashboardUsers(server),
    ...ofTranslations(admin),
    ...ofPreferenceCenters(server, admin),
    ...ofSyncs(admin),
    ...ofScim(server),
    ...ofSignIn(server, workspace),
  };
}

const ALIAS = { alias_name: "a1", alias_label: "app" };

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };
const STATE = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };

const ofUsers: Samples = {
  "POST /users/track": () => ({ body: { events: [EVENT] } }),
  "POST /users/track/bulk": () => ({ body: { events: [EVENT] } }),
  "POST /users/track/sync": () => ({ body: { events: [EVENT] } }),
  "POST /users/alias/new": () => ({ body: { user_aliases: [ALIAS] } }),
  "POST /users/alias/update": () => ({
    body: {
      alias_updates: [{ alias_label: "app", old_alias_name: "a1", new_alias_name: "a2" }],
    },
  }),
  "POST /users/external_ids/rename": () => ({
    body: { external_id_renames: [{ current_external_id: "eve", new_external_id: "eve-2" }] },
  }),
  "POST /users/external_ids/remove": () => ({ body: { external_ids: ["former"] } }),
  "POST /users/identify": () => ({
    body: { aliases_to_identify: [{ external_id: "ada", user_alias: ALIAS }] },
  }),
  "POST /users/merge": () => ({
    body: {
      merge_updates: [
        { identifier_to_merge: { external_id: "eve" }, identifier_to_keep: { external_id: "ada" } },
      ],
    },
  }),
  "POST /users/delete": () => ({ body: { external_ids: ["eve"] } }),
  "POST /users/export/ids": () => ({ body: { external_ids: ["ada"] } }),
  "POST /v2/subscription/status/set": () => ({
    body: { subscription_groups: [{ ...STATE, external_ids: ["ada"] }] },
  }),
  "POST /subscription/status/set": () => ({ body: { ...STATE, external_id: "ada" } }),
  "GET /subscription/status/get": () => ({
    query: { subscription_group_id: NEWSLETTER, external_id: "ada" },
  }),
  "GET /email/unsubscribes": () => ({ query: { email: "ada@example.com" } }),
  "GET /email/hard_bounces": () => ({ query: { email: "ada@example.com" } }),
  "POST /email/bounce/remove": () => ({ body: { email: "ada@example.com" } }),
  "POST /email/blocklist": () => ({ body: { email: "ada@example.com" } }),
  "GET /subscription/user/status": () => ({ query: { external_id: "ada" } }),
  "POST /email/status": () => ({
    body: { email: "ada@example.com", subscription_state: "subscribed" },
  }),
};

/** An import that has begun. */
const beginImport = (server: TestServer, workspace: string) => async (): Promise<Sample> => {
  const import_id = randomUUID();
  const body = { kind: "users", first_row: 1, rows: [{ external_id: "ada" }] };
  await server.admin("POST", `/admin/v1/workspaces/${workspace}/imports/${import_id}`, body);
  return { params: { import_id } };
};

const ofWorkspaces = (server: TestServer, { name, key }: TestWorkspace): Samples => ({
  "POST /admin/v1/apply": () => ({ body: { company: { name: randomUUID() }, workspaces: [] } }),
  "POST /admin/v1/preference-page-links/rotate": () => ({ body: { overlap_days: 30 } }),
  "POST /admin/v1/workspaces/:name/reset": () => ({}),
  "GET /admin/v1/workspaces/:name/identity-audit": () => ({}),
  "POST /admin/v1/workspaces/:name/import": () => ({
    body: { users: [{ external_id: "ada", cards_clicked: [{ name: "card" }] }] },
  }),
  "POST /admin/v1/workspaces/:name/imports/:import_id": () => ({
    params: { import_id: randomUUID() },
    body: { kind: "users", first_row: 1, rows: [{ external_id: "ada", first_name: "Ada" }] },
  }),
  "GET /admin/v1/workspaces/:name/imports/:import_id": beginImport(server, name),
  "DELETE /admin/v1/workspaces/:name/imports/:import_id": beginImport(server, name),
  "GET /admin/v1/workspaces/:name/joined-spellings": () => ({}),
  "GET /admin/v1/upgrades": () => ({}),
  "GET /admin/v1/workspaces/:name/subscription-history": () => ({ query: { external_id: "ada" } }),
  "DELETE /admin/v1/workspaces/:name/email-states/:email": async () => {
    const email = "ada@example.com";
    const body = { email, subscription_state: "opted_in" };
    await server.send("POST", "/email/status", body, { key });
    return { params: { email } };
  },
});

const localeOf = (id: string) => ({
  name: "German",
  country: "Germany",
  language: "German",
  locale_key: `de-x-${id.slice(0, 8)}`,
});
const IN_SPANISH = { locale_id: SPANISH };
const MESSAGE = { campaign_id: WELCOME, channel: "email", multi_language: true, source: SOURCE };

/** Something new that a request may take away. */
const madeAnew = (admin: Admin, path: string, bodyOf: (id: string) => object) => async () => {
  const id = randomUUID();
  await admin("PUT", `${path}/${id}`, { body: bodyOf(id) });
  return { params: { id } };
};

const ofTranslations = (admin: Admin): Samples => {
  const message = { id: WELCOME_MAIL };
  const translation = { id: WELCOME_MAIL, locale_id: SPANISH };
  const translate = () =>
    admin("PUT", `/messages/${WELCOME_MAIL}/translations/${SPANISH}`, {
      body: { translation_map: HOLA },
    });
  const hola = () => ({ ...HOLA, id_0: `Hola ${randomUUID()}` });
  const file = (name: string, type: string) => async () => {
    await translate();
    const { body } = await admin("GET", `/messages/${WELCOME_MAIL}/${name}`);
    const raw = body.replaceAll(/Hola[\w -]*/g, hola().id_0);
    return { params: message, raw, headers: { "content-type": type } };
  };
  const PATH = "/admin/v1/workspaces/:name";
  return {
    "GET /campaign/translations/": () => ({ query: inCampaign(IN_SPANISH) }),
    "GET /canvases/translations": () => ({ query: inCanvas(IN_SPANISH) }),
    "GET /campaign/translations/source": () => ({ query: inCampaign() }),
    "GET /canvases/translations/source": () => ({ query: inCanvas() }),
    "PUT /campaign/translations/": () => ({
      body: { ...inCampaign(IN_SPANISH), translation_map: HOLA },
    }),
    "PUT /canvases/translations": () => ({
      body: { ...inCanvas(IN_SPANISH), translation_map: HOLA },
    }),

    [`GET ${PATH}/locales`]: () => ({}),
    [`GET ${PATH}/locales/:id`]: () => ({ params: { id: SPANISH } }),
    [`PUT ${PATH}/locales/:id`]: () => ({
      params: { id: FRENCH },
      body: { name: randomUUID(), country: "France", language: "French", locale_key: "fr-FR" },
    }),
    [`PATCH ${PATH}/locales/:id`]: () => ({
      params: { id: SPANISH },
      body: { name: randomUUID() },
    }),
    [`DELETE ${PATH}/locales/:id`]: madeAnew(admin, "/locales", localeOf),
    [`GET ${PATH}/campaigns`]: () => ({}),
    [`GET ${PATH}/canvases`]: () => ({}),
    [`PUT ${PATH}/campaigns/:id`]: () => ({
      params: { id: WELCOME },
      body: { name: randomUUID() },
    }),
    [`PUT ${PATH}/canvases/:id`]: () => ({
      params: { id: ONBOARDING },
      body: { name: randomUUID(), step_ids: [FIRST_STEP] },
    }),
    [`PATCH ${PATH}/campaigns/:id`]: () => ({
      params: { id: WELCOME },
      body: { name: randomUUID() },
    }),
    [`PATCH ${PATH}/canvases/:id`]: () => ({
      params: { id: ONBOARDING },
      body: { name: randomUUID() },
    }),
    [`DELETE ${PATH}/campaigns/:id`]: madeAnew(admin, "/campaigns", () => ({ name: "New" })),
    [`DELETE ${PATH}/canvases/:id`]: madeAnew(admin, "/canvases", () => ({
      name: "New",
      step_ids: [],
    })),
    [`GET ${PATH}/messages/:id`]: () => ({ params: message }),
    [`PUT ${PATH}/messages/:id`]: () => ({ params: { id: randomUUID() }, body: MESSAGE }),
    [`PATCH ${PATH}/messages/:id`]: async () => ({
      ...(await madeAnew(admin, "/messages", () => MESSAGE)()),
      body: { content: { subject: `Hello ${randomUUID()}` } },
    }),
    [`DELETE ${PATH}/messages/:id`]: madeAnew(admin, "/messages", () => MESSAGE),
    [`PUT ${PATH}/messages/:id/translations/:locale_id`]: () => ({
      params: translation,
      body: { translation_map: hola() },
    }),
    [`PATCH ${PATH}/messages/:id/translations/:locale_id`]: () => ({
      params: translation,
      body: { translation_map: hola() },
    }),
    [`DELETE ${PATH}/messages/:id/translations/:locale_id`]: async () => {
      await translate();
      return { params: translation };
    },
    [`GET ${PATH}/messages/:id/render`]: () => ({ params: message }),
    [`GET ${PATH}/messages/:id/translations.csv`]: () => ({ params: message }),
    [`GET ${PATH}/messages/:id/translations.xliff`]: () => ({ params: message }),
    [`PUT ${PATH}/messages/:id/translations.csv`]: file("translations.csv", "text/csv"),
    [`PUT ${PATH}/messages/:id/translations.xliff`]: file(
      "translations.xliff",
      "application/xliff+xml",
    ),
  };
};

const ofSyncs = (admin: Admin): Samples => {
  const integration = `/integrations/${NOWHERE.id}`;
  const params = { integration_id: NOWHERE.id };
  /** A sync can be started while none runs. */
  const whenIdle = async () => {
    const { body } = await admin("GET", `${integration}/runs`);
    if (body.results[0]?.job_status !== "running") return { params };
    await new Promise((resolve) => setTimeout(resolve, 5));
    return whenIdle();
  };
  const newIntegration = () => {
    const { id: _id, ...body } = { ...NOWHERE, name: randomUUID() };
    return { params: { integration_id: randomUUID() }, body };
  };
  const madeIntegration = async () => {
    const made = newIntegration();
    await admin("PUT", `/integrations/${made.params.integration_id}`, made);
    return { params: made.params };
  };
  const ofRun = async () => {
    const made = newIntegration();
    const path = `/integrations/${made.params.integration_id}`;
    await admin("PUT", path, made);
    const { body } = await admin("POST", `${path}/sync`);
    return { params: { ...made.params, run_id: body.run_id } };
  };
  const LIST = "/admin/v1/workspaces/:name/integrations";
  const ONE = `${LIST}/:integration_id`;
  return {
    [`GET ${LIST}`]: () => ({}),
    [`GET ${ONE}`]: () => ({ params }),
    [`PUT ${ONE}`]: () => newIntegration(),
    [`PATCH ${ONE}`]: async () => ({ ...(await madeIntegration()), body: { name: randomUUID() } }),
    [`DELETE ${ONE}`]: madeIntegration,
    "GET /cdi/integrations": () => ({}),
    "GET /cdi/integrations/:integration_id/job_sync_status": () => ({ params }),
    "POST /cdi/integrations/:integration_id/sync": whenIdle,
    "GET /admin/v1/integrations": () => ({ query: { name: NOWHERE.name } }),
    [`POST ${ONE}/sync`]: whenIdle,
    [`POST ${ONE}/test`]: () => ({ params }),
    [`POST ${ONE}/test-change`]: () => ({ params, body: { type: "events" } }),
    [`POST ${ONE}/tables`]: () => ({ params, body: {} }),
    [`GET ${ONE}/runs`]: () => ({ params }),
    [`GET ${ONE}/runs/:run_id`]: ofRun,
    [`GET ${ONE}/runs/:run_id/rows`]: ofRun,
  };
};

const ofScim = (server: TestServer): Samples => {
  const scim = scimClient(server);
  const headers = { "x-request-origin": TOKEN.service_origin };
  const permissions = { companyPermissions: [], appGroup: [] };
  const ofUser = (body?: unknown) => async () => ({
    params: { id: (await scim.user({ permissions })).id },
    headers,
    body,
  });
  return {
    "POST /scim/v2/Users": () => ({ headers, body: newUser({ permissions }) }),
    "GET /scim/v2/Users": () => ({ headers }),
    "GET /scim/v2/Users/:id": ofUser(),
    "PUT /scim/v2/Users/:id": ofUser(newUser({ permissions, department: "marketing" })),
    "PATCH /scim/v2/Users/:id": ofUser({
      schemas: [PATCH_SCHEMA],
      Operations: [{ op: "replace", path: "name.givenName", value: "Grace" }],
    }),
    "DELETE /scim/v2/Users/:id": ofUser(),
    "GET /scim/v2/ServiceProviderConfig": () => ({ headers }),
    "GET /scim/v2/ResourceTypes": () => ({ headers }),
    "GET /scim/v2/ResourceTypes/:id": () => ({ params: { id: "User" }, headers }),
    "GET /scim/v2/Schemas": () => ({ headers }),
    "GET /scim/v2/Schemas/:id": () => ({
      params: { id: "urn:ietf:params:scim:schemas:core:2.0:User" },
      headers,
    }),
  };
};
