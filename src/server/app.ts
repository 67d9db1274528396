import { apiKeyEndpoints, scimTokenEndpoints } from "../core/admin/access/credential-endpoints.ts";
import { apiKeys, scimTokens } from "../core/admin/access/resources.ts";
import { deleteSecretsOfKeys } from "../core/admin/access/secret-store.ts";
import type { AttentionSource } from "../core/admin/attention/attention.ts";
import { auditEndpoints } from "../core/admin/audit/endpoints.ts";
import type { JobKind } from "../core/admin/jobs/job.ts";
import {
  type Retained,
  retentionJob,
  scheduleRetention,
  type TraceEraser,
} from "../core/admin/retention/retention.ts";
import { sealingEndpoints } from "../core/admin/secrets/endpoints.ts";
import type { SealedKind } from "../core/admin/secrets/rotate.ts";
import { apps } from "../core/admin/workspaces/apps.ts";
import {
  type ReferenceEraser,
  sweepDeletedWorkspaces,
} from "../core/admin/workspaces/delete-workspace.ts";
import { workspaceEndpoints } from "../core/admin/workspaces/endpoints.ts";
import { mailDomains } from "../core/admin/workspaces/mail-domains.ts";
import type { Eraser } from "../core/admin/workspaces/reset.ts";
import type { Resource } from "../core/admin/workspaces/resource.ts";
import { type Resources, resourceEndpoints } from "../core/admin/workspaces/resource-endpoints.ts";
import { subscriptionGroups } from "../core/admin/workspaces/subscription-groups.ts";
import { company, settings, workspaces } from "../core/admin/workspaces/workspace-resources.ts";
import type { CompanyContext } from "../core/base/context/context.ts";
import type { Metrics } from "../core/base/observe/metrics.ts";
import type { Database } from "../core/database/database.ts";
import { deleteAllAnswers, eraseAnswers } from "../core/http/idempotency-store.ts";
import type { MailServices } from "../core/mail/mail-job.ts";
import { deleteAllActivity } from "../core/people/activity/removal-store.ts";
import { RETAINED_EVENTS, RETAINED_PURCHASES } from "../core/people/activity/retention-store.ts";
import { changeEndpoints } from "../core/people/changes/endpoints.ts";
import { deleteAllRecorded } from "../core/people/changes/store.ts";
import { eraseChangesNaming, sweepChanges } from "../core/people/changes/sweep-changes.ts";
import { identityAdminEndpoints } from "../core/people/identity/admin-endpoints.ts";
import { identityEndpoints } from "../core/people/identity/endpoints.ts";
import { deleteAllAuditEntries } from "../core/people/identity/store.ts";
import { deleteAllMerged } from "../core/people/profiles/merged-store.ts";
import { deleteAllProfiles } from "../core/people/profiles/store.ts";
import { deleteAllNames } from "../core/people/quotas/store.ts";
import { subscriptionAdminEndpoints } from "../core/people/subscriptions/admin-endpoints.ts";
import { emailListEndpoints } from "../core/people/subscriptions/email-list-endpoints.ts";
import { subscriptionEndpoints } from "../core/people/subscriptions/endpoints.ts";
import { eraseSubscriptions } from "../core/people/subscriptions/states.ts";
import { trackEndpoints } from "../core/track/endpoints.ts";
import { backupEndpoints } from "../features/backup/endpoints.ts";
import { campaignEndpoints } from "../features/campaigns/endpoints.ts";
import { campaignResources } from "../features/campaigns/resources.ts";
import { eraseCapturedCalls, RETAINED_CAPTURED_CALLS } from "../features/capture/captured-calls.ts";
import { deleteCallsNaming } from "../features/capture/captured-store.ts";
import { captureEndpoints } from "../features/capture/endpoints.ts";
import { sweepCatalogue } from "../features/catalogue/catalogue.ts";
import { catalogueEndpoints } from "../features/catalogue/endpoints.ts";
import { deleteCatalogue } from "../features/catalogue/store.ts";
import {
  DASHBOARD_USER_COMPANY_RESOURCES,
  DASHBOARD_USER_RESOURCES,
} from "../features/dashboard-users/resources.ts";
import { deleteExpiredSessions } from "../features/dashboard-users/sessions-store.ts";
import { upgradeEndpoints } from "../features/dashboard-users/upgrade-endpoints.ts";
import { exportEndpoints } from "../features/export/endpoints.ts";
import { importEndpoints } from "../features/import/endpoints.ts";
import { sweepImports } from "../features/import/import-batch.ts";
import { deleteAllImports, eraseNotes } from "../features/import/imports-store.ts";
import { liveRequestEndpoints } from "../features/live-requests/endpoints.ts";
import { eraseRequestsNaming, sweepRequests } from "../features/live-requests/share-requests.ts";
import { deleteAllRequests } from "../features/live-requests/store.ts";
import { overviewEndpoints } from "../features/overview/endpoints.ts";
import { sweepTraffic } from "../features/overview/share-traffic.ts";
import { preferenceCenterAdminEndpoints } from "../features/preference-centers/admin-endpoints.ts";
import { preferenceCenterEndpoints } from "../features/preference-centers/endpoints.ts";
import { linkSecrets } from "../features/preference-centers/links.ts";
import { pageEndpoints } from "../features/preference-centers/page-endpoints.ts";
import { PREFERENCE_CENTER_RESOURCES } from "../features/preference-centers/resources.ts";
import { dashboardUserAdminEndpoints } from "../features/scim/admin-endpoints.ts";
import { scimEndpoints } from "../features/scim/endpoints.ts";
import { forgetWorkspaceOfUsers } from "../features/scim/forget-workspace.ts";
import { scimDefaults } from "../features/scim/resources.ts";
import { countJob } from "../features/segments/count-exactly.ts";
import { sizesJob, sweepSegments } from "../features/segments/daily-sizes.ts";
import { segmentDashboardEndpoints } from "../features/segments/dashboard-endpoints.ts";
import { segmentEndpoints } from "../features/segments/endpoints.ts";
import { segmentExportEndpoints } from "../features/segments/exports/endpoints.ts";
import { callbackJob, sweepSegmentExports } from "../features/segments/exports/exports.ts";
import { deleteAllExports, deleteExportsNaming } from "../features/segments/exports/store.ts";
import { uploadJob } from "../features/segments/exports/upload.ts";
import { publicSegmentEndpoints } from "../features/segments/public-endpoints.ts";
import { segments } from "../features/segments/resource.ts";
import { deleteAllSizes, deleteCountsNaming } from "../features/segments/store.ts";
import { signInEndpoints } from "../features/sign-in/endpoints.ts";
import { deleteExpiredLinks } from "../features/sign-in/links-store.ts";
import { signInPages } from "../features/sign-in/pages.ts";
import { messageTranslations } from "../features/translations/declared-translations.ts";
import { translationEndpoints } from "../features/translations/endpoints.ts";
import { translationFileEndpoints } from "../features/translations/file-endpoints.ts";
import { locales } from "../features/translations/locale-resource.ts";
import { messageTranslationEndpoints } from "../features/translations/message-endpoints.ts";
import { recordEndpoints } from "../features/user-records/endpoints.ts";
import { warehouseAdminEndpoints } from "../features/warehouses/admin-endpoints.ts";
import { withdrawConnections } from "../features/warehouses/connection-store.ts";
import { connectionCredentials, connections } from "../features/warehouses/connections.ts";
import { warehouseEndpoints } from "../features/warehouses/endpoints.ts";
import { eraseSyncs, RETAINED_ROW_LOG, sweepSyncs } from "../features/warehouses/forget.ts";
import { mailJobs } from "../features/warehouses/mail.ts";
import { warehouseManageEndpoints } from "../features/warehouses/manage-endpoints.ts";
import { syncAttention } from "../features/warehouses/recent-runs.ts";
import { warehouseCredentials } from "../features/warehouses/reseal.ts";
import { integrations } from "../features/warehouses/resource.ts";
import type { SyncServices } from "../features/warehouses/run.ts";
import { sourceEndpoints } from "../features/warehouses/sources-endpoint.ts";
import { syncJob } from "../features/warehouses/sync.ts";
import { testEndpoint } from "../features/warehouses/test-endpoint.ts";
import { eraseLogEntries, eraseRunMessages } from "../features/warehouses/traces-store.ts";
import { webhookAttention } from "../features/webhooks/attention.ts";
import { eraseResponsesNaming } from "../features/webhooks/deliveries-store.ts";
import { webhookEndpoints } from "../features/webhooks/endpoints.ts";
import { eraseDeliveries, sweepDeadLetters } from "../features/webhooks/forget.ts";
import { webhookMailJobs } from "../features/webhooks/mail.ts";
import { webhooks } from "../features/webhooks/resource.ts";
import { webhookSecrets } from "../features/webhooks/secrets.ts";
import { healthEndpoints } from "./health-endpoints.ts";
import { dashboardPages } from "./pages/pages.ts";

/* What the server consists of. Enter a new feature here. */

/** The resources of every workspace, in the order a manifest applies them. */
export const RESOURCES: readonly Resource[] = [
  apiKeys,
  apps,
  subscriptionGroups,
  integrations,
  ...DASHBOARD_USER_RESOURCES,
  locales,
  ...campaignResources(messageTranslations),
  ...PREFERENCE_CENTER_RESOURCES,
  segments,
  webhooks,
];

/** The resources of the company, in the same order. */
export const COMPANY_RESOURCES: readonly Resource<CompanyContext>[] = [
  mailDomains,
  connections,
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
  ...catalogueEndpoints,
  ...changeEndpoints,
  ...segmentEndpoints,
  ...segmentDashboardEndpoints,
  ...publicSegmentEndpoints,
  ...segmentExportEndpoints,
  ...webhookEndpoints,
  ...warehouseEndpoints,
  ...warehouseAdminEndpoints,
  ...warehouseManageEndpoints,
  ...sourceEndpoints,
  testEndpoint,
  ...scimEndpoints,
  ...dashboardUserAdminEndpoints,
  ...upgradeEndpoints,
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

/**
 * Data that a workspace keeps for a period from its settings: one entry for every feature with such
 * data.
 */
const RETAINED: readonly Retained[] = [
  RETAINED_EVENTS,
  RETAINED_PURCHASES,
  RETAINED_ROW_LOG,
  RETAINED_CAPTURED_CALLS,
];

/** Every kind of background job. */
export const JOBS: readonly JobKind<SyncServices & MailServices>[] = [
  syncJob,
  ...mailJobs,
  countJob,
  sizesJob,
  callbackJob,
  uploadJob,
  ...webhookMailJobs,
  retentionJob(RETAINED),
];

/** The data that a reset deletes: one entry for every feature that holds user data. */
export const ERASERS: readonly Eraser[] = [
  // First: no running sync can recreate a user afterwards.
  eraseSyncs,
  eraseSubscriptions,
  deleteAllActivity,
  deleteAllAuditEntries,
  deleteAllMerged,
  deleteAllNames,
  deleteCatalogue,
  deleteAllProfiles,
  deleteAllAnswers,
  deleteAllImports,
  eraseCapturedCalls,
  deleteAllSizes,
  deleteAllExports,
  deleteAllRecorded,
  eraseDeliveries,
  deleteAllRequests,
];

/** Data outside a workspace's rows that refers to it, and which a deletion removes. */
export const REFERENCE_ERASERS: readonly ReferenceEraser[] = [
  // First: the keys are rows of the workspace.
  deleteSecretsOfKeys,
  withdrawConnections,
  forgetWorkspaceOfUsers,
];

/**
 * Records outside a person's own rows that an erasure removes: one entry for every feature that may
 * name people.
 */
export const TRACE_ERASERS: readonly TraceEraser[] = [
  eraseAnswers,
  deleteCallsNaming,
  eraseLogEntries,
  eraseRunMessages,
  eraseNotes,
  deleteCountsNaming,
  deleteExportsNaming,
  eraseChangesNaming,
  eraseResponsesNaming,
  eraseRequestsNaming,
];

/** Sealed data: one entry for every feature that stores secrets to read again. */
export const SEALED_KINDS: readonly SealedKind[] = [
  warehouseCredentials,
  connectionCredentials,
  linkSecrets,
  webhookSecrets,
];

/** What is deleted after its retention period. */
export const SWEEPERS: readonly ((
  database: Database,
  now: Date,
  metrics: Metrics,
) => Promise<void>)[] = [
  sweepSyncs,
  sweepImports,
  deleteExpiredSessions,
  deleteExpiredLinks,
  scheduleRetention,
  sweepCatalogue,
  sweepSegments,
  sweepSegmentExports,
  sweepChanges,
  sweepDeadLetters,
  sweepTraffic,
  sweepRequests,
  sweepDeletedWorkspaces,
];

/** What the features say in the overview of a workspace. */
export const ATTENTION_SOURCES: readonly AttentionSource[] = [syncAttention, webhookAttention];
