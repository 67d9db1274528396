import type { Logger } from "pino";
import { createAuthenticator } from "../admin/access/authenticate.ts";
import { createFailedAttempts } from "../admin/access/failed-attempts.ts";
import { createLastUsed } from "../admin/access/last-used.ts";
import { createRateLimits } from "../admin/access/rate-limits.ts";
import { createReadRecorder } from "../admin/audit/audit.ts";
import { createMailer } from "../admin/jobs/mailer.ts";
import type { ErasedPerson } from "../admin/retention/retention.ts";
import { hashSecret } from "../admin/secrets/secrets.ts";
import type { Clock } from "../base/clock.ts";
import { createFairLine } from "../base/fair-line.ts";
import type { Metrics } from "../base/observe/metrics.ts";
import type { Tracing } from "../base/observe/tracing.ts";
import { createOutbound } from "../base/outbound/outbound.ts";
import { createProcesses } from "../base/processes.ts";
import { createThreadPool } from "../base/threads/thread-pool.ts";
import { createRequestLog } from "../dashboard/live-requests/request-log.ts";
import { createRequestSharing, forgetRequests } from "../dashboard/live-requests/share-requests.ts";
import { createStreamSlots } from "../dashboard/live-requests/stream-slots.ts";
import { createTrafficSharing } from "../dashboard/overview/share-traffic.ts";
import { createIdentityProvider } from "../dashboard/sign-in/identity-provider.ts";
import { colleaguesAmong } from "../dashboard/users/manage-users.ts";
import { createSessions } from "../dashboard/users/sessions.ts";
import type { Database } from "../database/database.ts";
import type { DiskWatch } from "../database/disk-watch.ts";
import type { WriterCount } from "../database/lanes.ts";
import { hostsOf } from "../database/postgres/hosts-of.ts";
import { createSendSlots } from "../delivery/webhooks/replay.ts";
import { createIdempotency } from "../http/idempotency.ts";
import { bytesOfThisProcess, createLoad } from "../http/load.ts";
import { tooMuchLoad } from "../http/respond.ts";
import { createWriteQueue } from "../intake/track/write-queue.ts";
import { createBucketOpener } from "../intake/warehouses/open-bucket.ts";
import { createCenterCache } from "../messaging/preference-centers/center-cache.ts";
import { createLinks } from "../messaging/preference-centers/links.ts";
import { createPageLimits } from "../messaging/preference-centers/page-limits.ts";
import { createPageViews } from "../messaging/preference-centers/page-views.ts";
import { type Catalogue, createCatalogue } from "../people/catalogue/catalogue.ts";
import { createChangeReaders } from "../people/changes/endpoints.ts";
import { createFeedReaders } from "../people/changes/feed-readers.ts";
import { createChangeWatch } from "../people/changes/watch-changes.ts";
import { createLargeExports } from "../people/export/export-by-ids.ts";
import { createExportSlots } from "../people/export/export-stream.ts";
import { createSmallExports } from "../people/export/small-exports.ts";
import { createMergeQueue } from "../people/identity/merge-users.ts";
import { createAddressCache } from "../people/profiles/address-cache.ts";
import { createIdCache } from "../people/profiles/id-cache.ts";
import { createPeopleOrder } from "../people/profiles/people-order.ts";
import { createRemovedProfiles } from "../people/profiles/removed-profiles.ts";
import { createQuotas } from "../people/quotas/quotas.ts";
import { createCountSlots } from "../people/segments/count-exactly.ts";
import { createUserTotals } from "../people/segments/count-users.ts";
import { createSetQueue } from "../people/subscriptions/set-group-states.ts";
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
  /** How many processes write users, as this one last saw: see `admin/secrets/running-servers.ts`. */
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
