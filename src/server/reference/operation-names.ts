import { type Contract, pathsOf } from "../../http/endpoint.ts";

/*
 * What an operation is called (its operationId, which a generated client makes a function of) and under which tag
 * it stands. Both follow from method and path; where that gives a poor name, the table has a better one.
 */

const NAMES: Readonly<Record<string, string>> = {
  "GET /health/live": "checkLiveness",
  "GET /health/ready": "checkReadiness",
  "POST /users/track": "trackUsers",
  "POST /users/track/bulk": "trackUsersInBulk",
  "POST /users/track/sync": "trackUserInSync",
  "POST /users/alias/new": "createUserAliases",
  "POST /users/alias/update": "renameUserAliases",
  "POST /users/external_ids/rename": "renameExternalIds",
  "POST /users/external_ids/remove": "removeExternalIds",
  "POST /users/identify": "identifyUsers",
  "POST /users/merge": "mergeUsers",
  "POST /users/delete": "deleteUsers",
  "POST /users/export/ids": "exportUsers",
  "POST /v2/subscription/status/set": "setSubscriptionStates",
  "POST /subscription/status/set": "setSubscriptionState",
  "POST /email/status": "setEmailState",
  "POST /email/bounce/remove": "removeHardBounces",
  "POST /email/blocklist": "blockEmails",
  "GET /email/unsubscribes": "listUnsubscribes",
  "GET /email/hard_bounces": "listHardBounces",
  "GET /subscription/status/get": "getSubscriptionState",
  "GET /subscription/user/status": "listUserSubscriptions",
  "GET /cdi/integrations": "listIntegrations",
  "GET /cdi/integrations/:integration_id/job_sync_status": "listSyncs",
  "POST /cdi/integrations/:integration_id/sync": "startSync",
  "GET /admin/v1/integrations": "findIntegrations",
  "GET /admin/v1/workspaces/:name/integrations": "listDeclaredIntegrations",
  "POST /admin/v1/workspaces/:name/integrations/:integration_id/sync": "startIntegrationRun",
  "GET /admin/v1/workspaces/:name/integrations/:integration_id/runs": "listIntegrationRuns",
  "GET /admin/v1/workspaces/:name/integrations/:integration_id/runs/:run_id": "getIntegrationRun",
  "GET /admin/v1/workspaces/:name/integrations/:integration_id/runs/:run_id/rows":
    "listIntegrationRunRows",
  "GET /admin/v1/workspaces/:name/export/:kind": "streamExport",
  "GET /admin/v1/workspaces/:name/manifest": "exportManifest",
  "GET /admin/v1/workspaces/:name/identity-audit": "listIdentityAudit",
  "POST /admin/v1/workspaces/:name/import": "importUsers",
  "GET /admin/v1/workspaces/:name/subscription-history": "listSubscriptionHistory",
  "DELETE /admin/v1/workspaces/:name/email-states/:email": "eraseEmailState",
  "GET /admin/v1/workspaces/:name/overview": "getOverview",
  "GET /admin/v1/workspaces/:name/requests": "listLiveRequests",
  "GET /admin/v1/workspaces/:name/requests/:id": "getLiveRequest",
  "GET /admin/v1/workspaces/:name/requests/stream": "streamLiveRequests",
  "GET /dashboard/session": "getSession",
  "POST /dashboard/session": "signIn",
  "DELETE /dashboard/session": "signOut",
  "DELETE /dashboard/sessions": "signOutEverywhere",
  "POST /admin/v1/sign-in-links": "createSignInLink",
  "POST /scim/v2/Users": "createDashboardUser",
  "GET /scim/v2/Users": "listDashboardUsers",
  "GET /scim/v2/Users/:id": "getDashboardUser",
  "PUT /scim/v2/Users/:id": "replaceDashboardUser",
  "PATCH /scim/v2/Users/:id": "patchDashboardUser",
  "DELETE /scim/v2/Users/:id": "deleteDashboardUser",
  "GET /admin/v1/dashboard-users": "findDashboardUsers",
  "POST /admin/v1/dashboard-users": "addDashboardUser",
  "GET /admin/v1/dashboard-users/:id": "readDashboardUser",
  "PATCH /admin/v1/dashboard-users/:id": "changeDashboardUser",
  "DELETE /admin/v1/dashboard-users/:id": "removeDashboardUser",
  "DELETE /admin/v1/dashboard-users/:id/sessions": "signOutDashboardUser",
  "GET /scim/v2/ServiceProviderConfig": "getScimConfiguration",
  "GET /scim/v2/ResourceTypes": "listScimResourceTypes",
  "GET /scim/v2/ResourceTypes/:id": "getScimResourceType",
  "GET /scim/v2/Schemas": "listScimSchemas",
  "GET /scim/v2/Schemas/:id": "getScimSchema",
  "GET /campaign/translations/": "listCampaignTranslations",
  "GET /canvases/translations/": "listCanvasTranslations",
  "GET /campaign/translations/source/": "getCampaignTranslationSource",
  "GET /canvases/translations/source/": "getCanvasTranslationSource",
  "PUT /campaign/translations/": "setCampaignTranslation",
  "PUT /canvases/translations/": "setCanvasTranslation",
  "PUT /admin/v1/workspaces/:name/messages/:id/translations/:locale_id": "setMessageTranslation",
  "PATCH /admin/v1/workspaces/:name/messages/:id/translations/:locale_id":
    "changeMessageTranslation",
  "DELETE /admin/v1/workspaces/:name/messages/:id/translations/:locale_id":
    "deleteMessageTranslation",
  "GET /admin/v1/workspaces/:name/messages/:id/render": "renderMessage",
  "GET /admin/v1/workspaces/:name/messages/:id/translations.csv": "exportTranslationsAsCsv",
  "PUT /admin/v1/workspaces/:name/messages/:id/translations.csv": "importTranslationsFromCsv",
  "GET /admin/v1/workspaces/:name/messages/:id/translations.xliff": "exportTranslationsAsXliff",
  "PUT /admin/v1/workspaces/:name/messages/:id/translations.xliff": "importTranslationsFromXliff",
  "GET /preference_center/v1/list": "listPreferenceCenters",
  "GET /preference_center/v1/:preference_center_id": "getPreferenceCenter",
  "POST /preference_center/v1": "createPreferenceCenter",
  "PUT /preference_center/v1/:preference_center_id": "updatePreferenceCenter",
  "POST /preference_center/v1/:preference_center_id": "updatePreferenceCenterByPost",
  "GET /preference_center/v1/:preference_center_id/url/:user_id": "getPreferencePageUrl",
  "POST /admin/v1/preference-page-links/rotate": "rotatePreferencePageLinks",
  "GET /admin/v1/workspaces/:name/preference-centers": "listDeclaredPreferenceCenters",
  "GET /admin/v1/workspaces/:name/preference-centers/:id": "getDeclaredPreferenceCenter",
  "GET /admin/v1/workspaces/:name/preference-centers/:id/preview": "previewPreferenceCenter",
  "POST /admin/v1/workspaces/:name/preference-centers/:id/preview":
    "previewPreferenceCenterContent",
  "GET /preferences/:link": "showPreferencePage",
  "POST /preferences/:link": "submitPreferencePage",
  "POST /admin/v1/apply": "applyManifest",
  "GET /manifest.schema.json": "getManifestSchema",
  "POST /admin/v1/workspaces/:name/reset": "resetWorkspace",
  "PUT /admin/v1/workspaces/:name/canvases/:id": "putCanvas",
  "DELETE /admin/v1/workspaces/:name/canvases/:id": "deleteCanvas",
  "PUT /admin/v1/workspaces/:name/api-keys/:key": "changeApiKey",
  "DELETE /admin/v1/workspaces/:name/api-keys/:key": "revokeApiKey",
  "PUT /admin/v1/scim-tokens/:token": "changeScimToken",
  "DELETE /admin/v1/scim-tokens/:token": "revokeScimToken",
  "POST /admin/v1/secret-key/rotate": "rotateSecretKey",
  "GET /admin/v1/audit": "listAudit",
  "GET /admin/v1/audit/export": "exportAudit",
  "GET /admin/v1/audit/verify": "verifyAudit",
};

const VERBS = { GET: "get", POST: "create", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;

/** `POST /users/track`: how the contract is known here and in tests. */
export const keyOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

/** Entries of the table, for the test that finds those without an endpoint. */
export const NAMED_OPERATIONS: readonly string[] = Object.keys(NAMES);

/** The operationId: a verb and a noun in camel case. */
export const operationIdOf = (contract: Contract): string =>
  NAMES[keyOf(contract)] ?? derivedName(contract);

function derivedName(contract: Contract): string {
  const path = (pathsOf(contract)[0] ?? "").replace(
    /^\/(?:admin\/v1)(?:\/workspaces\/:name(?=\/))?/,
    "",
  );
  const steps = path.split("/").filter(Boolean);
  const [last = ""] = steps.slice(-1);
  const nouns = steps.filter((step) => !step.startsWith(":"));
  if (contract.method === "POST" && steps.at(-2)?.startsWith(":")) {
    return camel(last, ...nouns.slice(0, -1).map(singular));
  }
  if (last.startsWith(":")) return camel(VERBS[contract.method], ...nouns.map(singular));
  if (contract.method === "POST") return camel("create", ...nouns.map(singular));
  const isList = contract.method === "GET" && last.endsWith("s") && !SINGLE.has(last);
  const [owner, noun] = [nouns.slice(0, -1).map(singular), nouns.at(-1) ?? ""];
  return camel(isList ? "list" : VERBS[contract.method], ...owner, noun);
}

/** One thing with a name in the plural. */
const SINGLE: ReadonlySet<string> = new Set(["settings", "scim-defaults"]);

const singular = (noun: string): string =>
  SINGLE.has(noun)
    ? noun
    : noun
        .replace(/sses$/, "ss")
        .replace(/ies$/, "y")
        .replace(/([^s])s$/, "$1");

const camel = (...words: readonly string[]): string =>
  words
    .flatMap((word) => word.split(/[^a-zA-Z0-9]+/))
    .map((word, index) =>
      index === 0 ? word.toLowerCase() : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    )
    .join("");

interface Tag {
  readonly name: string;
  readonly description: string;
  /** The first steps of the paths that belong here. */
  readonly paths: readonly string[];
}

/** In the order in which the reference shows them. A path belongs to the longest match. */
export const TAGS: readonly Tag[] = [
  {
    name: "Tracking",
    description: "Record attributes, events and purchases of users.",
    paths: ["/users/track"],
  },
  {
    name: "Identity",
    description: "Alias, identify, merge, rename and delete users.",
    paths: ["/users"],
  },
  { name: "Export", description: "Read profiles.", paths: ["/users/export"] },
  {
    name: "Subscriptions",
    description: "Read and set states in subscription groups, and of email addresses.",
    paths: ["/subscription", "/v2/subscription", "/email"],
  },
  {
    name: "Preference centers",
    description: "Pages on which users choose what they receive.",
    paths: ["/preference_center", "/preferences"],
  },
  {
    name: "Translations",
    description: "Strings of campaign and canvas messages, by locale.",
    paths: ["/campaign", "/canvases"],
  },
  { name: "Warehouse syncs", description: "Syncs from data warehouses.", paths: ["/cdi"] },
  {
    name: "Dashboard users",
    description: "SCIM 2.0: create, read, change and remove dashboard users.",
    paths: ["/scim"],
  },
  {
    name: "Dashboard",
    description: "Sign in to the dashboard and out of it; watch requests.",
    paths: ["/dashboard", "/admin/v1/sign-in-links", "/admin/v1/workspaces/:name/requests"],
  },
  {
    name: "Workspaces",
    description: "Manifests, workspaces, their settings and what they declare.",
    paths: ["/admin/v1", "/manifest.schema.json"],
  },
  {
    name: "Keys and tokens",
    description: "API keys and SCIM tokens: create, rotate, revoke.",
    paths: ["/admin/v1/workspaces/:name/api-keys", "/admin/v1/scim-tokens", "/admin/v1/secret-key"],
  },
  {
    name: "User administration",
    description: "Imports, histories and audits about users.",
    paths: [
      "/admin/v1/workspaces/:name/import",
      "/admin/v1/workspaces/:name/users",
      "/admin/v1/workspaces/:name/identity-audit",
      "/admin/v1/workspaces/:name/subscription-history",
      "/admin/v1/workspaces/:name/email-states",
    ],
  },
  {
    name: "Campaign administration",
    description: "Campaigns, canvases, messages, locales and translation files.",
    paths: ["campaigns", "canvases", "messages", "locales"].map(
      (each) => `/admin/v1/workspaces/:name/${each}`,
    ),
  },
  {
    name: "Preference center administration",
    description: "Preference centers as they are declared, previews, and links.",
    paths: ["/admin/v1/workspaces/:name/preference-centers", "/admin/v1/preference-page-links"],
  },
  {
    name: "Sync administration",
    description: "Integrations as they are declared, their runs and rejected rows.",
    paths: ["/admin/v1/workspaces/:name/integrations", "/admin/v1/integrations"],
  },
  {
    name: "Team administration",
    description: "Dashboard users, their teams, permission sets and defaults.",
    paths: [
      "/admin/v1/dashboard-users",
      "/admin/v1/workspaces/:name/teams",
      "/admin/v1/permission-sets",
      "/admin/v1/scim-defaults",
    ],
  },
  { name: "Server", description: "Health and this document.", paths: ["/"] },
];

/** The tag of an operation. */
export function tagOf(contract: Contract): string {
  const path = pathsOf(contract)[0] ?? "";
  const matches = TAGS.flatMap(({ name, paths }) =>
    paths
      .filter((prefix) => prefix === "/" || path === prefix || path.startsWith(`${prefix}/`))
      .map((prefix) => ({ name, length: prefix.length })),
  );
  return matches.sort((a, b) => b.length - a.length)[0]?.name ?? "";
}
