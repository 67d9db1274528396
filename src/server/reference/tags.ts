import { type Contract, pathsOf } from "../../core/http/endpoint.ts";

/* The tags that group operations in the reference; the path determines the tag. */

interface Tag {
  readonly name: string;
  readonly description: string;
  /** The first steps of the paths that belong here. */
  readonly paths: readonly string[];
}

/** In the order of the reference. A path belongs to the longest match. */
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
    description: "Pages where users choose what they receive.",
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
    description: "Manifests, workspaces, their settings and declared resources.",
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
