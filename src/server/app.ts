import { apiKeyEndpoints, scimTokenEndpoints } from "../access/credential-endpoints.ts";
import { apiKeys, scimTokens } from "../access/sections.ts";
import { deleteAllActivity } from "../activity/removal-store.ts";
import { RETAINED_EVENTS, RETAINED_PURCHASES } from "../activity/retention-store.ts";
import { auditEndpoints } from "../audit/endpoints.ts";
import { backupEndpoints } from "../backup/endpoints.ts";
import { campaignEndpoints } from "../campaigns/endpoints.ts";
import { campaignResources } from "../campaigns/sections.ts";
import { eraseCapturedCalls, RETAINED_CAPTURED_CALLS } from "../capture/captured-calls.ts";
import { captureEndpoints } from "../capture/endpoints.ts";
import { cdiAdminEndpoints } from "../cdi/admin-endpoints.ts";
import { cdiEndpoints } from "../cdi/endpoints.ts";
import { eraseSyncs, RETAINED_ROW_LOG, sweepSyncs } from "../cdi/forget.ts";
import { type MailServices, mailJob } from "../cdi/mail.ts";
import { cdiManageEndpoints } from "../cdi/manage-endpoints.ts";
import { warehouseCredentials } from "../cdi/reseal.ts";
import type { SyncServices } from "../cdi/run.ts";
import { integrations } from "../cdi/section.ts";
import { syncJob } from "../cdi/sync.ts";
import type { CompanyContext } from "../context/context.ts";
import { dashboardPages } from "../dashboard/pages.ts";
import {
  DASHBOARD_USER_COMPANY_RESOURCES,
  DASHBOARD_USER_RESOURCES,
} from "../dashboard-users/sections.ts";
import { deleteExpiredSessions } from "../dashboard-users/sessions-store.ts";
import type { Database } from "../database/database.ts";
import { exportEndpoints } from "../export/endpoints.ts";
import { deleteAllAnswers } from "../http/store.ts";
import { identityAdminEndpoints } from "../identity/admin-endpoints.ts";
import { identityEndpoints } from "../identity/endpoints.ts";
import { deleteAllAuditEntries } from "../identity/store.ts";
import { importEndpoints } from "../import/endpoints.ts";
import { sweepImports } from "../import/import-batch.ts";
import { deleteAllImports } from "../import/imports-store.ts";
import type { JobKind } from "../jobs/job.ts";
import { liveRequestEndpoints } from "../live-requests/endpoints.ts";
import { overviewEndpoints } from "../overview/endpoints.ts";
import { deleteAllMerged } from "../people/merged-store.ts";
import { deleteAllProfiles } from "../people/store.ts";
import { preferenceCenterAdminEndpoints } from "../preference-centers/admin-endpoints.ts";
import { preferenceCenterEndpoints } from "../preference-centers/endpoints.ts";
import { linkSecrets } from "../preference-centers/links.ts";
import { pageEndpoints } from "../preference-centers/page-endpoints.ts";
import { PREFERENCE_CENTER_RESOURCES } from "../preference-centers/sections.ts";
import { deleteAllNames } from "../quotas/store.ts";
import { recordEndpoints } from "../records/endpoints.ts";
import { type Retained, retentionJob, scheduleRetention } from "../retention/retention.ts";
import { dashboardUserAdminEndpoints } from "../scim/admin-endpoints.ts";
import { scimEndpoints } from "../scim/endpoints.ts";
import { scimDefaults } from "../scim/sections.ts";
import { sealingEndpoints } from "../sealing/endpoints.ts";
import type { SealedKind } from "../sealing/rotate.ts";
import { signInEndpoints } from "../sign-in/endpoints.ts";
import { deleteExpiredLinks } from "../sign-in/links-store.ts";
import { signInPages } from "../sign-in/pages.ts";
import { subscriptionAdminEndpoints } from "../subscriptions/admin-endpoints.ts";
import { emailListEndpoints } from "../subscriptions/email-list-endpoints.ts";
import { subscriptionEndpoints } from "../subscriptions/endpoints.ts";
import { eraseSubscriptions } from "../subscriptions/states.ts";
import { trackEndpoints } from "../track/endpoints.ts";
import { messageTranslations } from "../translations/declared-translations.ts";
import { translationEndpoints } from "../translations/endpoints.ts";
import { translationFileEndpoints } from "../translations/file-endpoints.ts";
import { locales } from "../translations/locale-resource.ts";
import { messageTranslationEndpoints } from "../translations/message-endpoints.ts";
import { apps } from "../workspaces/apps.ts";
import { workspaceEndpoints } from "../workspaces/endpoints.ts";
import type { Eraser } from "../workspaces/reset.ts";
import type { Resource } from "../workspaces/resource.ts";
import { type Resources, resourceEndpoints } from "../workspaces/resource-endpoints.ts";
import { subscriptionGroups } from "../workspaces/subscription-groups.ts";
import { company, settings, workspaces } from "../workspaces/workspace-resources.ts";
import { healthEndpoints } from "./health-endpoints.ts";

/* What the server consists of. Enter a new feature here. */

/** The resources of every workspace, in the order in which a manifest is applied. */
export const RESOURCES: readonly Resource[] = [
  apiKeys,
  apps,
  subscriptionGroups,
  integrations,
  ...DASHBOARD_USER_RESOURCES,
  locales,
  ...campaignResources(messageTranslations),
  ...PREFERENCE_CENTER_RESOURCES,
];

/** The resources of the company, in the same order. */
export const COMPANY_RESOURCES: readonly Resource<CompanyContext>[] = [
  scimTokens,
  ...DASHBOARD_USER_COMPANY_RESOURCES,
  scimDefaults,
];

/** Everything that administrators manage. */
export const ADMINISTERED: Resources = {
  ofServer: [company, workspaces],
  ofCompany: COMPANY_RESOURCES,
  ofWorkspace: [settings, ...RESOURCES],
};

/** Every endpoint. */
export const ENDPOINTS = [
  ...healthEndpoints,
  ...trackEndpoints,
  ...identityEndpoints,
  ...identityAdminEndpoints,
  ...importEndpoints,
  ...exportEndpoints,
  ...recordEndpoints,
  ...subscriptionEndpoints,
  ...emailListEndpoints,
  ...subscriptionAdminEndpoints,
  ...cdiEndpoints,
  ...cdiAdminEndpoints,
  ...cdiManageEndpoints,
  ...scimEndpoints,
  ...dashboardUserAdminEndpoints,
  ...translationEndpoints,
  ...campaignEndpoints(messageTranslations),
  ...messageTranslationEndpoints,
  ...translationFileEndpoints,
  ...preferenceCenterEndpoints,
  ...preferenceCenterAdminEndpoints,
  ...pageEndpoints,
  ...workspaceEndpoints,
  ...resourceEndpoints(ADMINISTERED),
  ...apiKeyEndpoints,
  ...scimTokenEndpoints,
  ...auditEndpoints,
  ...backupEndpoints,
  ...sealingEndpoints,
  ...captureEndpoints,
  ...signInEndpoints,
  ...liveRequestEndpoints,
  ...overviewEndpoints,
];

/** What only browsers open: no part of the API. */
export const browserPages = (webFolder?: string) => [...signInPages, ...dashboardPages(webFolder)];

/** What a workspace keeps for a period that its settings name: one for every feature with such data. */
const RETAINED: readonly Retained[] = [
  RETAINED_EVENTS,
  RETAINED_PURCHASES,
  RETAINED_ROW_LOG,
  RETAINED_CAPTURED_CALLS,
];

/** Every kind of background job. */
export const JOBS: readonly JobKind<SyncServices & MailServices>[] = [
  syncJob,
  mailJob,
  retentionJob(RETAINED),
];

/** What a reset deletes: one for every feature that holds user data. */
export const ERASERS: readonly Eraser[] = [
  // First: no running sync can recreate a user afterwards.
  eraseSyncs,
  eraseSubscriptions,
  deleteAllActivity,
  deleteAllAuditEntries,
  deleteAllMerged,
  deleteAllNames,
  deleteAllProfiles,
  deleteAllAnswers,
  deleteAllImports,
  eraseCapturedCalls,
];

/** What is stored sealed: one for every feature that keeps secrets it needs again. */
export const SEALED_KINDS: readonly SealedKind[] = [warehouseCredentials, linkSecrets];

/** What is deleted after its retention period. */
export const SWEEPERS: readonly ((database: Database, now: Date) => Promise<void>)[] = [
  sweepSyncs,
  sweepImports,
  deleteExpiredSessions,
  deleteExpiredLinks,
  scheduleRetention,
];
