import { apiKeyEndpoints, scimTokenEndpoints } from "../admin/access/credential-endpoints.ts";
import { apiKeys, scimTokens } from "../admin/access/resources.ts";
import { deleteSecretsOfKeys } from "../admin/access/secret-store.ts";
import type { AttentionSource } from "../admin/attention/attention.ts";
import { auditEndpoints } from "../admin/audit/endpoints.ts";
import { backupEndpoints } from "../admin/backup/endpoints.ts";
import type { JobKind } from "../admin/jobs/job.ts";
import type { MailServices } from "../admin/jobs/mail-job.ts";
import {
  type Retained,
  retentionJob,
  scheduleRetention,
  type TraceEraser,
} from "../admin/retention/retention.ts";
import { sealingEndpoints } from "../admin/secrets/endpoints.ts";
import type { SealedKind } from "../admin/secrets/rotate.ts";
import { apps } from "../admin/workspaces/apps.ts";
import {
  type ReferenceEraser,
  sweepDeletedWorkspaces,
} from "../admin/workspaces/delete-workspace.ts";
import { workspaceEndpoints } from "../admin/workspaces/endpoints.ts";
import { mailDomains } from "../admin/workspaces/mail-domains.ts";
import type { Eraser } from "../admin/workspaces/reset.ts";
import type { Resource } from "../admin/workspaces/resource.ts";
import { type Resources, resourceEndpoints } from "../admin/workspaces/resource-endpoints.ts";
import { subscriptionGroups } from "../admin/workspaces/subscription-groups.ts";
import { company, settings, workspaces } from "../admin/workspaces/workspace-resources.ts";
import type { CompanyContext } from "../base/context/context.ts";
import type { Metrics } from "../base/observe/metrics.ts";
import { liveRequestEndpoints } from "../dashboard/live-requests/endpoints.ts";
import { eraseRequestsNaming, sweepRequests } from "../dashboard/live-requests/share-requests.ts";
import { deleteAllRequests } from "../dashboard/live-requests/store.ts";
import { overviewEndpoints } from "../dashboard/overview/endpoints.ts";
import { sweepTraffic } from "../dashboard/overview/share-traffic.ts";
import { dashboardPages } from "../dashboard/pages/pages.ts";
import { dashboardUserAdminEndpoints } from "../dashboard/scim/admin-endpoints.ts";
import { scimEndpoints } from "../dashboard/scim/endpoints.ts";
import { forgetWorkspaceOfUsers } from "../dashboard/scim/forget-workspace.ts";
import { scimDefaults } from "../dashboard/scim/resources.ts";
import { signInEndpoints } from "../dashboard/sign-in/endpoints.ts";
import { deleteExpiredLinks } from "../dashboard/sign-in/links-store.ts";
import { signInPages } from "../dashboard/sign-in/pages.ts";
import { recordEndpoints } from "../dashboard/user-records/endpoints.ts";
import {
  DASHBOARD_USER_COMPANY_RESOURCES,
  DASHBOARD_USER_RESOURCES,
} from "../dashboard/users/resources.ts";
import { deleteExpiredSessions } from "../dashboard/users/sessions-store.ts";
import { upgradeEndpoints } from "../dashboard/users/upgrade-endpoints.ts";
import type { Database } from "../database/database.ts";
import { segmentExportEndpoints } from "../delivery/segment-exports/endpoints.ts";
import { callbackJob, sweepSegmentExports } from "../delivery/segment-exports/exports.ts";
import { deleteAllExports, deleteExportsNaming } from "../delivery/segment-exports/store.ts";
import { uploadJob } from "../delivery/segment-exports/upload.ts";
import { webhookAttention } from "../delivery/webhooks/attention.ts";
import { eraseResponsesNaming } from "../delivery/webhooks/deliveries-store.ts";
import { webhookEndpoints } from "../delivery/webhooks/endpoints.ts";
import { eraseDeliveries, sweepDeadLetters } from "../delivery/webhooks/forget.ts";
import { webhookMailJobs } from "../delivery/webhooks/mail.ts";
import { webhooks } from "../delivery/webhooks/resource.ts";
import { webhookSecrets } from "../delivery/webhooks/secrets.ts";
import { deleteAllAnswers, eraseAnswers } from "../http/idempotency-store.ts";
import { eraseCapturedCalls, RETAINED_CAPTURED_CALLS } from "../intake/capture/captured-calls.ts";
import { deleteCallsNaming } from "../intake/capture/captured-store.ts";
import { captureEndpoints } from "../intake/capture/endpoints.ts";
import { importEndpoints } from "../intake/import/endpoints.ts";
import { sweepImports } from "../intake/import/import-batch.ts";
import { deleteAllImports, eraseNotes } from "../intake/import/imports-store.ts";
import { trackEndpoints } from "../intake/track/endpoints.ts";
import { warehouseAdminEndpoints } from "../intake/warehouses/admin-endpoints.ts";
import { withdrawConnections } from "../intake/warehouses/connection-store.ts";
import { connectionCredentials, connections } from "../intake/warehouses/connections.ts";
import { warehouseEndpoints } from "../intake/warehouses/endpoints.ts";
import { eraseSyncs, RETAINED_ROW_LOG, sweepSyncs } from "../intake/warehouses/forget.ts";
import { mailJobs } from "../intake/warehouses/mail.ts";
import { warehouseManageEndpoints } from "../intake/warehouses/manage-endpoints.ts";
import { syncAttention } from "../intake/warehouses/recent-runs.ts";
import { warehouseCredentials } from "../intake/warehouses/reseal.ts";
import { integrations } from "../intake/warehouses/resource.ts";
import type { SyncServices } from "../intake/warehouses/run.ts";
import { sourceEndpoints } from "../intake/warehouses/sources-endpoint.ts";
import { syncJob } from "../intake/warehouses/sync.ts";
import { testEndpoint } from "../intake/warehouses/test-endpoint.ts";
import { eraseLogEntries, eraseRunMessages } from "../intake/warehouses/traces-store.ts";
import { campaignEndpoints } from "../messaging/campaigns/endpoints.ts";
import { campaignResources } from "../messaging/campaigns/resources.ts";
import { preferenceCenterAdminEndpoints } from "../messaging/preference-centers/admin-endpoints.ts";
import { preferenceCenterEndpoints } from "../messaging/preference-centers/endpoints.ts";
import { linkSecrets } from "../messaging/preference-centers/links.ts";
import { pageEndpoints } from "../messaging/preference-centers/page-endpoints.ts";
import { PREFERENCE_CENTER_RESOURCES } from "../messaging/preference-centers/resources.ts";
import { messageTranslations } from "../messaging/translations/declared-translations.ts";
import { translationEndpoints } from "../messaging/translations/endpoints.ts";
import { translationFileEndpoints } from "../messaging/translations/file-endpoints.ts";
import { locales } from "../messaging/translations/locale-resource.ts";
import { messageTranslationEndpoints } from "../messaging/translations/message-endpoints.ts";
import { deleteAllActivity } from "../people/activity/removal-store.ts";
import { RETAINED_EVENTS, RETAINED_PURCHASES } from "../people/activity/retention-store.ts";
import { sweepCatalogue } from "../people/catalogue/catalogue.ts";
import { catalogueEndpoints } from "../people/catalogue/endpoints.ts";
import { deleteCatalogue } from "../people/catalogue/store.ts";
import { changeEndpoints } from "../people/changes/endpoints.ts";
import { deleteAllRecorded } from "../people/changes/store.ts";
import { eraseChangesNaming, sweepChanges } from "../people/changes/sweep-changes.ts";
import { exportEndpoints } from "../people/export/endpoints.ts";
import { identityAdminEndpoints } from "../people/identity/admin-endpoints.ts";
import { identityEndpoints } from "../people/identity/endpoints.ts";
import { deleteAllAuditEntries } from "../people/identity/store.ts";
import { deleteAllMerged } from "../people/profiles/merged-store.ts";
import { deleteAllProfiles } from "../people/profiles/store.ts";
import { deleteAllNames } from "../people/quotas/store.ts";
import { countJob } from "../people/segments/count-exactly.ts";
import { sizesJob, sweepSegments } from "../people/segments/daily-sizes.ts";
import { segmentDashboardEndpoints } from "../people/segments/dashboard-endpoints.ts";
import { segmentEndpoints } from "../people/segments/endpoints.ts";
import { publicSegmentEndpoints } from "../people/segments/public-endpoints.ts";
import { segments } from "../people/segments/resource.ts";
import { deleteAllSizes, deleteCountsNaming } from "../people/segments/store.ts";
import { subscriptionAdminEndpoints } from "../people/subscriptions/admin-endpoints.ts";
import { emailListEndpoints } from "../people/subscriptions/email-list-endpoints.ts";
import { subscriptionEndpoints } from "../people/subscriptions/endpoints.ts";
import { eraseSubscriptions } from "../people/subscriptions/states.ts";
import { healthEndpoints } from "./health-endpoints.ts";

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
