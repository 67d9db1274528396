/* An entry of each resource that administrators change, another one, and one that is refused. */

import type { ADMINISTERED } from "../../../../src/server/assembled.ts";

export type Members = Readonly<Record<string, unknown>>;

export interface Case {
  readonly owner: keyof typeof ADMINISTERED;
  /** Absent for a single value. */
  readonly id?: string;
  readonly entry: Members;
  readonly other: Members;
  /** A body that is refused, and the field that the message must name. */
  readonly invalid: { readonly body: Members; readonly field: string };
  readonly kind: string;
  /** The name in the audit log, if it is not that of the entry. */
  readonly auditName?: string;
}

export const CASES: Readonly<Record<string, Case>> = {
  company: {
    owner: "ofServer",
    entry: { name: "First name" },
    other: { name: "Second name" },
    invalid: { body: { name: "" }, field: "name" },
    kind: "company",
    auditName: "Second name",
  },
  workspaces: {
    owner: "ofServer",
    id: `created-${process.pid}`,
    entry: { allow_reset: true },
    other: { allow_reset: false },
    invalid: { body: { settings: { track_max_updates: 0 } }, field: "settings.track_max_updates" },
    kind: "workspace",
    auditName: `created-${process.pid}`,
  },
  settings: {
    owner: "ofWorkspace",
    entry: { track_max_updates: 7 },
    other: { track_max_updates: 8 },
    invalid: { body: { track_max_updates: 0 }, field: "track_max_updates" },
    kind: "workspace",
  },
  apps: {
    owner: "ofWorkspace",
    id: "app-1",
    entry: { name: "Phone", platform: "ios" },
    other: { name: "Phone", platform: "android" },
    invalid: { body: { name: "Phone", platform: "toaster" }, field: "platform" },
    kind: "app",
  },
  subscription_groups: {
    owner: "ofWorkspace",
    id: "group-1",
    entry: { name: "News", channel: "email" },
    other: { name: "News", channel: "sms" },
    invalid: { body: { name: "News", channel: "fax" }, field: "channel" },
    kind: "subscription_group",
  },
  teams: {
    owner: "ofWorkspace",
    id: "Europe / West",
    entry: { id: "team-1" },
    other: { id: "team-2" },
    invalid: { body: { id: "" }, field: "id" },
    kind: "team",
    auditName: "Europe / West",
  },
  permission_sets: {
    owner: "ofCompany",
    id: "Writers / East",
    entry: { permissions: ["basic_access"] },
    other: { permissions: [] },
    invalid: { body: { permissions: ["fly"] }, field: "permissions" },
    kind: "permission_set",
    auditName: "Writers / East",
  },
  locales: {
    owner: "ofWorkspace",
    id: "5d0c2c0e-6f3a-4a57-8f0b-0b6f3f1f2a11",
    entry: { name: "German", country: "Germany", language: "German", locale_key: "de-DE" },
    other: { name: "German", country: "Austria", language: "German", locale_key: "de-AT" },
    invalid: {
      body: { name: "German", country: "", language: "German", locale_key: "de DE" },
      field: "locale_key",
    },
    kind: "locale",
  },
  segments: {
    owner: "ofWorkspace",
    id: "5d0c2c0e-6f3a-4a57-8f0b-0b6f3f1f2a12",
    entry: { name: "Buyers", description: "", tags: ["a"], filter: { purchases: "any" } },
    other: { name: "Buyers", description: "", tags: ["a"], filter: { purchases: "tea" } },
    invalid: { body: { name: "", filter: { purchases: "any" } }, field: "name" },
    kind: "segment",
    auditName: "Buyers",
  },
  webhooks: {
    owner: "ofWorkspace",
    id: "crm / east",
    entry: { name: "CRM", url: "https://crm.invalid/rapport", types: [], state: "paused" },
    other: { name: "CRM", url: "https://crm.invalid/other", types: ["user.deleted"] },
    invalid: { body: { name: "CRM", url: "ftp://crm.invalid/" }, field: "url" },
    kind: "webhook",
    auditName: "CRM",
  },
  connections: {
    owner: "ofCompany",
    id: "crm / east",
    entry: { type: "files", root: "/srv/drops", workspaces: ["shop"] },
    other: { type: "files", root: "/srv/drops", workspaces: [] },
    invalid: { body: { type: "files", root: "drops", workspaces: [] }, field: "root" },
    kind: "connection",
    auditName: "crm / east",
  },
  mail_domains: {
    owner: "ofCompany",
    entry: { mail_domains: ["acme.example"] },
    other: { mail_domains: [] },
    invalid: { body: { mail_domains: ["acme"] }, field: "mail_domains" },
    kind: "mail_domains",
    auditName: "mail_domains",
  },
  sign_in: {
    owner: "ofCompany",
    entry: { local: true },
    other: { local: false },
    invalid: { body: { local: "yes" }, field: "local" },
    kind: "sign_in",
    auditName: "sign_in",
  },
  scim_defaults: {
    owner: "ofCompany",
    entry: { department: "engineering" },
    other: { department: "marketing" },
    invalid: { body: { department: "kitchen" }, field: "department" },
    kind: "scim_defaults",
    auditName: "scim_defaults",
  },
};
