import { apiKeyEndpoints, scimTokenEndpoints } from "../core/admin/access/credential-endpoints.ts";
import { apiKeys, scimTokens } from "../core/admin/access/resources.ts";
import { deleteSecretsOfKeys } from "../core/admin/access/secret-store.ts";
import { auditEndpoints } from "../core/admin/audit/endpoints.ts";
import { scheduleRetention } from "../core/admin/retention/retention.ts";
import { sealingEndpoints } from "../core/admin/secrets/endpoints.ts";
import { apps } from "../core/admin/workspaces/apps.ts";
import { sweepDeletedWorkspaces } from "../core/admin/workspaces/delete-workspace.ts";
import { workspaceEndpoints } from "../core/admin/workspaces/endpoints.ts";
import { mailDomains } from "../core/admin/workspaces/mail-domains.ts";
import { subscriptionGroups } from "../core/admin/workspaces/subscription-groups.ts";
import type { Feature } from "../core/feature.ts";
import { deleteAllAnswers, eraseAnswers } from "../core/http/idempotency-store.ts";
import { deleteAllActivity } from "../core/people/activity/removal-store.ts";
import { RETAINED_EVENTS, RETAINED_PURCHASES } from "../core/people/activity/retention-store.ts";
import { changeEndpoints } from "../core/people/changes/endpoints.ts";
import { deleteAllRecorded } from "../core/people/changes/store.ts";
import { eraseChangesNaming, sweepChanges } from "../core/people/changes/sweep-changes.ts";
import { identityAdminEndpoints } from "../core/people/identity/admin-endpoints.ts";
import { identityEndpoints } from "../core/people/identity/endpoints.ts";
import { eraseMergesNaming, sweepMergeRecords } from "../core/people/identity/forget-merges.ts";
import { deleteAllRecords } from "../core/people/identity/merge-records-store.ts";
import { deleteAllAuditEntries } from "../core/people/identity/store.ts";
import { deleteAllMerged } from "../core/people/profiles/merged-store.ts";
import { deleteAllProfiles } from "../core/people/profiles/store.ts";
import { deleteAllNames } from "../core/people/quotas/store.ts";
import { subscriptionAdminEndpoints } from "../core/people/subscriptions/admin-endpoints.ts";
import { emailListEndpoints } from "../core/people/subscriptions/email-list-endpoints.ts";
import { subscriptionEndpoints } from "../core/people/subscriptions/endpoints.ts";
import { respellAddresses } from "../core/people/subscriptions/respell-addresses.ts";
import { eraseSubscriptions } from "../core/people/subscriptions/states.ts";
import { trackEndpoints } from "../core/track/endpoints.ts";
import { healthEndpoints } from "./health-endpoints.ts";

/* What the core offers, in the form of features. They are apart because the reference shows features between them. */

export const health = {
  name: "health",
  endpoints: healthEndpoints,
  reference: [{ tag: "Server", paths: ["/"] }],
} satisfies Feature;

export const track = {
  name: "track",
  endpoints: trackEndpoints,
  reference: [{ tag: "Tracking", paths: ["/users/track"] }],
  reset: { later: [deleteAllActivity] },
  retained: [RETAINED_EVENTS, RETAINED_PURCHASES],
} satisfies Feature;

export const identity = {
  name: "identity",
  endpoints: [...identityEndpoints, ...identityAdminEndpoints],
  reference: [
    { tag: "Identity", paths: ["/users"] },
    { tag: "User administration", paths: ["/admin/v1/workspaces/:name/identity-audit"] },
  ],
  reset: {
    later: [
      deleteAllAuditEntries,
      deleteAllRecords,
      deleteAllMerged,
      deleteAllNames,
      deleteAllProfiles,
    ],
  },
  erasure: [eraseMergesNaming],
  sweeps: [sweepMergeRecords],
} satisfies Feature;

export const subscriptions = {
  name: "subscriptions",
  endpoints: [...subscriptionEndpoints, ...emailListEndpoints, ...subscriptionAdminEndpoints],
  reference: [
    { tag: "Subscriptions", paths: ["/subscription", "/v2/subscription", "/email"] },
    {
      tag: "User administration",
      paths: [
        "/admin/v1/workspaces/:name/subscription-history",
        "/admin/v1/workspaces/:name/email-states",
      ],
    },
  ],
  resources: [subscriptionGroups],
  migrationSteps: [respellAddresses],
  reset: { later: [eraseSubscriptions] },
} satisfies Feature;

export const changes = {
  name: "changes",
  endpoints: changeEndpoints,
  reset: { first: [deleteAllRecorded] },
  erasure: [eraseChangesNaming],
  sweeps: [sweepChanges],
} satisfies Feature;

export const workspaces = {
  name: "workspaces",
  endpoints: workspaceEndpoints,
  reference: [{ tag: "Workspaces", paths: ["/admin/v1", "/manifest.schema.json"] }],
  resources: [apps],
  companyResources: [mailDomains],
  reset: { later: [deleteAllAnswers] },
  erasure: [eraseAnswers],
  sweeps: [scheduleRetention, sweepDeletedWorkspaces],
} satisfies Feature;

/** The admin endpoints of the resources of all parts: assemble.ts has them. */
export const administered = { name: "administered" } satisfies Feature;

export const access = {
  name: "access",
  endpoints: [...apiKeyEndpoints, ...scimTokenEndpoints, ...auditEndpoints],
  reference: [
    {
      tag: "Keys and tokens",
      paths: ["/admin/v1/workspaces/:name/api-keys", "/admin/v1/scim-tokens"],
    },
  ],
  resources: [apiKeys],
  companyResources: [scimTokens],
  // First: the keys are rows of the workspace.
  deletion: { first: [deleteSecretsOfKeys] },
} satisfies Feature;

export const secrets = {
  name: "secrets",
  endpoints: sealingEndpoints,
  reference: [{ tag: "Keys and tokens", paths: ["/admin/v1/secret-key"] }],
} satisfies Feature;
