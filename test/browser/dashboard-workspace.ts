/* A workspace that has something on every page of the dashboard. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NEWSLETTER, type TestServer, type TestWorkspace, WEB_APP } from "../harness.ts";
import { until } from "../until.ts";

export interface FilledWorkspace {
  readonly workspace: TestWorkspace;
  readonly name: string;
  /** Ids for addresses of pages. */
  readonly paths: Readonly<
    Record<"user" | "integration" | "run" | "center" | "message" | "webhook", string>
  >;
}

export async function filledWorkspace(server: TestServer): Promise<FilledWorkspace> {
  const [center, campaign, canvas, message, webhook] = [
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
  ];
  const workspace = await server.workspace({
    preference_centers: [{ id: center, name: "main" }],
    settings: { multi_language: true, rate_limits: { "users.track": "off" } },
  });
  const { name } = workspace;
  const put = async (path: string, body: unknown) => {
    const answer = await server.admin("PUT", `/admin/v1/workspaces/${name}${path}`, body);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  };
  await put(`/campaigns/${campaign}`, { name: "Welcome" });
  await put(`/canvases/${canvas}`, { name: "Onboarding", step_ids: [randomUUID()] });
  await put(`/locales/${randomUUID()}`, GERMAN);
  await put(`/messages/${message}`, {
    campaign_id: campaign,
    channel: "email",
    multi_language: true,
    content: { subject: "{% translation hello %}Hello{% endtranslation %}" },
  });
  const receiver = { name: "CRM", url: "https://crm.example/rapport", state: "paused" };
  await put(`/webhooks/${webhook}`, receiver);
  await server.admin("PUT", "/admin/v1/permission-sets/Support", { permissions: ["view_pii"] });
  const user = await withAda(workspace);
  const [integration, run] = await withRun(server, name);
  return { workspace, name, paths: { user, integration, run, center, message, webhook } };
}

/** The addresses of all pages, by what they show. Pages of the company are below no workspace. */
export function addressesOf({ name, paths }: FilledWorkspace): Readonly<Record<string, string>> {
  const pages = {
    Overview: "/overview",
    "The traffic of the server": "/overview?tab=server",
    "The traffic of a day": "/overview?tab=server&period=day",
    "The overview of a quarter": "/overview?period=90",
    "Live requests": "/requests",
    Users: "/users",
    "The timeline of a user": `/users/${paths.user}`,
    "The totals of a user": `/users/${paths.user}?tab=totals`,
    "The attributes of a user": `/users/${paths.user}?tab=attributes`,
    "The subscriptions of a user": `/users/${paths.user}?tab=subscriptions`,
    "The identity of a user": `/users/${paths.user}?tab=identity`,
    "The devices of a user": `/users/${paths.user}?tab=devices`,
    "The segments of a user": `/users/${paths.user}?tab=segments`,
    Groups: "/groups",
    Segments: "/segments",
    "A new segment": "/segments/new",
    Catalogue: "/catalogue",
    "The catalogue of attributes": "/catalogue?kind=attribute",
    Syncs: "/syncs",
    "An integration": `/syncs/${paths.integration}`,
    "A run": `/syncs/${paths.integration}/runs/${paths.run}`,
    Webhooks: "/webhooks",
    "A webhook": `/webhooks/${paths.webhook}`,
    Translations: "/translations",
    Locales: "/translations?tab=locales",
    Campaigns: "/campaigns",
    "Preference centers": "/preference-centers",
    "A preference center": `/preference-centers/${paths.center}`,
    "API keys": "/settings/keys",
    Apps: "/settings/apps",
    Teams: "/settings/teams",
    Brand: "/settings/brand",
    Limits: "/settings/limits",
    Manifest: "/settings/manifest",
    "Dashboard users": "/company/dashboard-users",
    "SCIM tokens": "/company/scim-tokens",
    Roles: "/company/roles",
    "The audit log": "/company/audit",
    Workspaces: "/company/workspaces",
  };
  const addressOf = (path: string) => (path.startsWith("/company/") ? path : `/w/${name}${path}`);
  return Object.fromEntries(Object.entries(pages).map(([what, path]) => [what, addressOf(path)]));
}

const GERMAN = { name: "German", country: "DE", language: "de", locale_key: "de-DE" };

/** Ada with everything that a profile shows. @returns her platform_id. */
async function withAda(workspace: TestWorkspace): Promise<string> {
  const time = new Date().toISOString();
  const subscribed = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  const answer = await workspace.track({
    attributes: [
      {
        external_id: "ada",
        email: "ada@example.com",
        phone: "+14155552671",
        first_name: "Ada",
        plan: "gold",
        favourite: { colour: "blue" },
        subscription_groups: [subscribed],
        push_tokens: [{ app_id: WEB_APP, token: "token-1" }],
      },
      { external_id: "old-ada", plan: "free" },
    ],
    events: [{ external_id: "ada", name: "signed_up", time, properties: { source: "web" } }],
    purchases: [{ external_id: "ada", product_id: "chair", currency: "EUR", price: 49.9, time }],
  });
  assert.equal(answer.body.errors, undefined, JSON.stringify(answer.body));
  await workspace.call("POST", "/users/merge", {
    merge_updates: [
      {
        identifier_to_merge: { external_id: "old-ada" },
        identifier_to_keep: { external_id: "ada" },
      },
    ],
  });
  return (await workspace.profile({ external_ids: ["ada"] })).platform_id;
}

/** An integration with a run in which a row failed. */
async function withRun(server: TestServer, name: string): Promise<[string, string]> {
  const file = join(await mkdtemp(join(tmpdir(), "rapport-dashboard-")), "users.csv");
  await writeFile(
    file,
    'UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01 00:00:00,grace,"{""plan"":""gold""}"\n' +
      '2026-01-01 00:00:01,bad,"{""dob"":""never""}"\n',
  );
  const id = randomUUID();
  const path = `/admin/v1/workspaces/${name}/integrations/${id}`;
  const warehouse = { type: "files", url: file, format: "csv" };
  const made = await server.admin("PUT", path, {
    name: "Users from files",
    type: "attributes",
    warehouse,
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const started = await server.admin("POST", `${path}/sync`);
  const run: string = started.body.run_id;
  await until(async () => {
    const { body } = await server.admin("GET", `${path}/runs/${run}`);
    return body.run.job_status !== "running";
  });
  return [id, run];
}
