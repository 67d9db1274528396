import { auditEndpoints } from "./audit/endpoints.ts";
import { cdiAdminEndpoints } from "./cdi/admin-endpoints.ts";
import { cdiEndpoints } from "./cdi/endpoints.ts";
import { eraseSyncs, sweepSyncs } from "./cdi/forget.ts";
import { type MailServices, mailJob } from "./cdi/mail.ts";
import { cdiManageEndpoints } from "./cdi/manage-endpoints.ts";
import type { SyncServices } from "./cdi/run.ts";
import { integrations } from "./cdi/section.ts";
import { syncJob } from "./cdi/sync.ts";
import type { Database } from "./database/database.ts";
import { engagementEndpoints } from "./engagement/endpoints.ts";
import { eraseEngagement } from "./engagement/engagement.ts";
import { exportEndpoints } from "./export/endpoints.ts";
import { healthEndpoints } from "./health/endpoints.ts";
import { deleteAllAnswers } from "./http/store.ts";
import { identityAdminEndpoints } from "./identity/admin-endpoints.ts";
import { eraseAudit } from "./identity/audit.ts";
import { identityEndpoints } from "./identity/endpoints.ts";
import type { JobKind } from "./jobs/job.ts";
import { deleteAllMerged } from "./profiles/merged-store.ts";
import { deleteAllProfiles } from "./profiles/store.ts";
import { scimEndpoints } from "./scim/endpoints.ts";
import { SCIM_COMPANY_SECTIONS, SCIM_SECTIONS } from "./scim/sections.ts";
import { subscriptionAdminEndpoints } from "./subscriptions/admin-endpoints.ts";
import { subscriptionEndpoints } from "./subscriptions/endpoints.ts";
import { eraseSubscriptions } from "./subscriptions/states.ts";
import { trackEndpoints } from "./track/endpoints.ts";
import { deleteAllEventsAndPurchases } from "./track/store.ts";
import { translationAdminEndpoints } from "./translations/admin-endpoints.ts";
import { translationEndpoints } from "./translations/endpoints.ts";
import { TRANSLATION_SECTIONS } from "./translations/sections.ts";
import { apiKeyEndpoints } from "./workspaces/api-key-endpoints.ts";
import { workspaceEndpoints } from "./workspaces/endpoints.ts";
import type { Eraser } from "./workspaces/reset.ts";
import { scimTokenEndpoints } from "./workspaces/scim-token-endpoints.ts";
import type { CompanySection, Section } from "./workspaces/section.ts";
import { sectionEndpoints } from "./workspaces/section-endpoints.ts";
import { CORE_COMPANY_SECTIONS, CORE_SECTIONS } from "./workspaces/sections.ts";
import { workspaceAdminEndpoints } from "./workspaces/workspace-admin-endpoints.ts";

/* The one list of what the server consists of. A new facility is entered here and nowhere else. */

/** Every part that a workspace may have in a manifest. */
export const SECTIONS: readonly Section[] = [
  ...CORE_SECTIONS,
  integrations,
  ...SCIM_SECTIONS,
  ...TRANSLATION_SECTIONS,
];

/** Every part that the company may have in a manifest. */
export const COMPANY_SECTIONS: readonly CompanySection[] = [
  ...CORE_COMPANY_SECTIONS,
  ...SCIM_COMPANY_SECTIONS,
];

/** Every endpoint. */
export const ENDPOINTS = [
  ...healthEndpoints,
  ...trackEndpoints,
  ...identityEndpoints,
  ...identityAdminEndpoints,
  ...engagementEndpoints,
  ...exportEndpoints,
  ...subscriptionEndpoints,
  ...subscriptionAdminEndpoints,
  ...cdiEndpoints,
  ...cdiAdminEndpoints,
  ...cdiManageEndpoints,
  ...scimEndpoints,
  ...translationEndpoints,
  ...translationAdminEndpoints,
  ...workspaceEndpoints,
  ...workspaceAdminEndpoints,
  ...sectionEndpoints(SECTIONS, COMPANY_SECTIONS),
  ...apiKeyEndpoints,
  ...scimTokenEndpoints,
  ...auditEndpoints,
];

/** Every kind of work that is done in the background. */
export const JOBS: readonly JobKind<SyncServices & MailServices>[] = [syncJob, mailJob];

/** What a reset empties: one for every facility that holds user data. */
export const ERASERS: readonly Eraser[] = [
  // First: afterwards no sync that runs can bring anybody back.
  eraseSyncs,
  eraseSubscriptions,
  deleteAllEventsAndPurchases,
  eraseEngagement,
  eraseAudit,
  deleteAllMerged,
  deleteAllProfiles,
  deleteAllAnswers,
];

/** What is removed after a time. */
export const SWEEPERS: readonly ((database: Database, now: Date) => Promise<void>)[] = [sweepSyncs];
