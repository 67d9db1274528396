import type { Logger } from "pino";
import { createAuthenticator } from "../core/admin/access/authenticate.ts";
import { createFailedAttempts } from "../core/admin/access/failed-attempts.ts";
import { createLastUsed } from "../core/admin/access/last-used.ts";
import { createRateLimits } from "../core/admin/access/rate-limits.ts";
import { createReadRecorder } from "../core/admin/audit/audit.ts";
import type { ErasedPerson } from "../core/admin/retention/retention.ts";
import { hashSecret } from "../core/admin/secrets/secrets.ts";
import type { Clock } from "../core/base/clock.ts";
import { createFairLine } from "../core/base/fair-line.ts";
import type { Metrics } from "../core/base/observe/metrics.ts";
import type { Tracing } from "../core/base/observe/tracing.ts";
import { createProcesses } from "../core/base/processes.ts";
import { createThreadPool } from "../core/base/threads/thread-pool.ts";
import type { Database } from "../core/database/database.ts";
import type { DiskWatch } from "../core/database/disk-watch.ts";
import type { WriterCount } from "../core/database/lanes.ts";
import { hostsOf } from "../core/database/postgres/hosts-of.ts";
import { createIdempotency } from "../core/http/idempotency.ts";
import { bytesOfThisProcess, createLoad } from "../core/http/load.ts";
import { tooMuchLoad } from "../core/http/respond.ts";
import { createMailer } from "../core/mail/mailer.ts";
import { createOutbound } from "../core/outbound/outbound.ts";
import { createChangeReaders } from "../core/people/changes/endpoints.ts";
import { createFeedReaders } from "../core/people/changes/feed-readers.ts";
import { createChangeWatch } from "../core/people/changes/watch-changes.ts";
import { createMergeQueue } from "../core/people/identity/merge-users.ts";
import { createAddressCache } from "../core/people/profiles/address-cache.ts";
import { createIdCache } from "../core/people/profiles/id-cache.ts";
import { createPeopleOrder } from "../core/people/profiles/people-order.ts";
import { createRemovedProfiles } from "../core/people/profiles/removed-profiles.ts";
import { createQuotas } from "../core/people/quotas/quotas.ts";
import { createSetQueue } from "../core/people/subscriptions/set-group-states.ts";
import { createWriteQueue } from "../core/track/write-queue.ts";
import { type Catalogue, createCatalogue } from "../features/catalogue/catalogue.ts";
import { colleaguesAmong } from "../features/dashboard-users/manage-users.ts";
import { createSessions } from "../features/dashboard-users/sessions.ts";
import { createLargeExports } from "../features/export/export-by-ids.ts";
import { createExportSlots } from "../features/export/export-stream.ts";
import { createSmallExports } from "../features/export/small-exports.ts";
import { createRequestLog } from "../features/live-requests/request-log.ts";
import { createRequestSharing, forgetRequests } from "../features/live-requests/share-requests.ts";
import { createStreamSlots } from "../features/live-requests/stream-slots.ts";
import { createTrafficSharing } from "../features/overview/share-traffic.ts";
import { createCenterCache } from "../features/preference-centers/center-cache.ts";
import { createLinks } from "../features/preference-centers/links.ts";
import { createPageLimits } from "../features/preference-centers/page-limits.ts";
import { createPageViews } from "../features/preference-centers/page-views.ts";
import { createCountSlots } from "../features/segments/count-exactly.ts";
import { createUserTotals } from "../features/segments/count-users.ts";
import { createIdentityProvider } from "../features/sign-in/identity-provider.ts";
import { createBucketOpener } from "../features/warehouses/open-bucket.ts";
import { createSendSlots } from "../features/webhooks/replay.ts";
import {
  ATTENTION_SOURCES,
  COMPANY_RESOURCES,
  ERASERS,
  REFERENCE_ERASERS,
  RESOURCES,
  SEALED_KINDS,
  TRACE_ERASERS,
} from "./app.ts";
import type { Config } from "./config.ts";
import { findAdminToken, startSealingAs } from "./server-secrets.ts";

/** Logging, metrics, tracing and the disk watch; created before the services. */
export interface Watching {
  readonly clock: Clock;
  readonly disk: DiskWatch;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

export type Services = Awaited<ReturnType<typeof createServices>>["services"];

/**
 * Everything that endpoints and jobs are given, on a migrated database: each service once for the
 * process. A use case names the ones it needs.
 */
export async function createServices(config: Config, watching: Watching) {
  const { clock, disk, metrics, tracing } = watching;
  const { database } = disk;
  const stored = { database, clock };
  const sealing = await startSealingAs(
    config,
    { database, sealedKinds: SEALED_KINDS },
    watching.log,
  );
  const access = await createAccess(config, watching);
  const idempotency = createIdempotency(stored);
  const quotas = createQuotas(database, clock);
  const catalogue = createCatalogue(database, clock);
  /** How many processes write users, as this one last saw: see `core/admin/secrets/running-servers.ts`. */
  const writers = { seen: config.workers };
  const order = createOrder(database, () => Math.max(config.workers, writers.seen));
  const writing = { ...stored, ...order.shared, addressCache: createAddressCache(), tracing };
  const { maxRequests: requests, maxEventLoopDelayMs: eventLoopDelayMs } = config;
  const outbound = createGuard(config);
  const services = {
    ...watching,
    ...writing,
    ...access.services,
    ...createLiveRequests(stored, config, catalogue),
    dataDir: config.dataDir,
    outbound,
    openBucket: createBucketOpener({ database, sealing, outbound }),
    load: createLoad({ requests, eventLoopDelayMs, ...bytesOfThisProcess() }, metrics),
    trafficSharing: createTrafficSharing({ database, clock, metrics }),
    streamSlots: createStreamSlots(),
    recordAuditedRead: createReadRecorder(stored),
    ...createFeed(database),
    sendSlots: createSendSlots(),
    idempotency,
    rateLimits: createRateLimits(stored),
    resources: RESOURCES,
    colleaguesAmong,
    shortestSecret: config.shortestSecret,
    companyResources: COMPANY_RESOURCES,
    erasers: ERASERS,
    referenceErasers: REFERENCE_ERASERS,
    traceErasers: TRACE_ERASERS,
    attentionSources: ATTENTION_SOURCES,
    readiness: { isReady: false },
    sealing,
    sealedKinds: SEALED_KINDS,
    links: createLinks({ ...stored, sealing }, config.pageLinkDays),
    pageLimits: createPageLimits(config.pageLimit),
    pageViews: createPageViews(database),
    centerCache: createCenterCache(),
    threads: createThreadPool(),
    exportSlots: createExportSlots(),
    countSlots: createCountSlots(),
    userTotals: createUserTotals(database, clock),
    quotas,
    catalogue,
    onWritten: catalogue.note,
    writeQueue: createWriteQueue(
      { ...writing, idempotency, metrics, quotas, onWritten: catalogue.note },
      await database.lanes(order.writerCount),
    ),
    writers,
    mergeQueue: createMergeQueue({ ...stored, ...order.shared, tracing }),
    smallExports: createSmallExports({ database, tracing }),
    largeExports: createLargeExports(),
    largePreviews: createFairLine({ places: 2, mostWaiting: 50, refusal: tooMuchLoad }),
    setQueue: createSetQueue(writing),
    mailer: config.smtpUrl ? createMailer(config.smtpUrl, config.smtpFrom) : undefined,
    /** Until the worker has started there is none to wake. */
    worker: { wake: () => {} },
  };
  return { services, adminToken: access.adminToken };
}

/** The latest requests, and what this process forgets with a workspace or a person. */
function createLiveRequests(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  config: Config,
  catalogue: Catalogue,
) {
  const processes = createProcesses();
  const requestLog = createRequestLog(clock, config.liveRequests);
  return {
    processes,
    requestLog,
    requestSharing: createRequestSharing({ database, requestLog }),
    forgetWorkspace(workspaceId: number) {
      catalogue.forget(workspaceId);
      requestLog.forget(workspaceId, () => true);
    },
    forgetPerson: (person: ErasedPerson) => forgetRequests({ database, processes }, person),
  };
}

/** The guard of connections to other hosts. */
const createGuard = ({ outboundAllow, databaseUrl }: Config) =>
  createOutbound({ allow: outboundAllow, own: databaseUrl ? hostsOf(databaseUrl) : [] });

/** What reads the change feed. */
function createFeed(database: Database) {
  const changeWatch = createChangeWatch(database);
  const feedReaders = createFeedReaders(database, changeWatch);
  return { changeWatch, feedReaders, changeReaders: createChangeReaders() };
}

/** Orders the writers of users, and tells them who was removed. */
function createOrder(database: Database, writerCount: WriterCount) {
  const idCache = createIdCache();
  const hasOthers = () => database.ordersWriters && writerCount() > 1;
  const removedProfiles = createRemovedProfiles(database, idCache, hasOthers);
  return { writerCount, shared: { idCache, peopleOrder: createPeopleOrder(), removedProfiles } };
}

/** Who may call: the administrator's token, keys, sessions of the dashboard, and single sign-on. */
async function createAccess(config: Config, { clock, disk: { database }, metrics }: Watching) {
  const stored = { database, clock };
  const adminToken = await findAdminToken(database, config);
  const { hash: adminTokenHash } = adminToken;
  const { previousAdminToken: previous } = config;
  const adminTokenHashes = [adminTokenHash, ...(previous ? [hashSecret(previous)] : [])];
  const lastUsed = createLastUsed(database, clock);
  const failedAttempts = createFailedAttempts(config.maxFailedAuth, metrics);
  const sessions = createSessions(stored, adminTokenHash, config);
  const identityProvider = config.oidc && (await createIdentityProvider(config.oidc));
  const authenticator = createAuthenticator(
    { ...stored, lastUsed, failedAttempts, sessions },
    adminTokenHashes,
    { sign_in: { oidc: identityProvider?.view ?? null } },
  );
  return {
    adminToken,
    services: {
      authenticator,
      lastUsed,
      sessions,
      failedAttempts,
      adminTokenHash,
      adminTokenHashes,
      identityProvider,
    },
  };
}
