import type { ReferencePart } from "../../core/feature.ts";
import { type Contract, pathsOf } from "../../core/http/endpoint.ts";

/* The tags that group operations in the reference. Each part of the server says which paths belong to which. */

interface Tag {
  readonly name: string;
  readonly description: string;
}

/** In the order of the reference. */
export const TAGS: readonly Tag[] = [
  { name: "Tracking", description: "Record attributes, events and purchases of users." },
  { name: "Identity", description: "Alias, identify, merge, rename and delete users." },
  { name: "Export", description: "Read profiles." },
  {
    name: "Subscriptions",
    description: "Read and set states in subscription groups, and of email addresses.",
  },
  { name: "Preference centers", description: "Pages where users choose what they receive." },
  { name: "Translations", description: "Strings of campaign and canvas messages, by locale." },
  { name: "Warehouse syncs", description: "Syncs from data warehouses." },
  {
    name: "Dashboard users",
    description: "SCIM 2.0: create, read, change and remove dashboard users.",
  },
  { name: "Dashboard", description: "Sign in to the dashboard and out of it; watch requests." },
  {
    name: "Workspaces",
    description: "Manifests, workspaces, their settings and declared resources.",
  },
  { name: "Keys and tokens", description: "API keys and SCIM tokens: create, rotate, revoke." },
  { name: "User administration", description: "Imports, histories and audits about users." },
  {
    name: "Campaign administration",
    description: "Campaigns, canvases, messages, locales and translation files.",
  },
  {
    name: "Preference center administration",
    description: "Preference centers as they are declared, previews, and links.",
  },
  {
    name: "Sync administration",
    description: "Integrations as they are declared, their runs and rejected rows.",
  },
  {
    name: "Team administration",
    description: "Dashboard users, their teams, permission sets and defaults.",
  },
  { name: "Server", description: "Health and this document." },
];

/** The tag of an operation: its path belongs to the longest match. */
export function tagOf(contract: Contract, reference: readonly ReferencePart[]): string {
  const path = pathsOf(contract)[0] ?? "";
  const matches = reference.flatMap(({ tag, paths }) =>
    paths
      .filter((prefix) => prefix === "/" || path === prefix || path.startsWith(`${prefix}/`))
      .map((prefix) => ({ tag, length: prefix.length })),
  );
  return matches.sort((a, b) => b.length - a.length)[0]?.tag ?? "";
}
