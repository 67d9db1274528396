import type { Logger } from "pino";
import { createFailedAttempts } from "../core/admin/access/failed-attempts.ts";
import { createLastUsed } from "../core/admin/access/last-used.ts";
import { createRateLimits } from "../core/admin/access/rate-limits.ts";
import type { AttentionSource } from "../core/admin/attention/attention.ts";
import { createReadRecorder, type NamingServices } from "../core/admin/audit/audit.ts";
import type { ErasedPerson, TraceEraser } from "../core/admin/retention/retention.ts";
import type { SealedKind } from "../core/admin/secrets/rotate.ts";
import { hashSecret } from "../core/admin/secrets/secrets.ts";
import type { SharedSecret } from "../core/admin/secrets/shared-secret.ts";
import type { ReferenceEraser } from "../core/admin/workspaces/delete-workspace.ts";
import type { Erasers } from "../core/admin/workspaces/reset.ts";
import type { Colleagues, NameEraser, Resource } from "../core/admin/workspaces/resource.ts";
import type { Clock } from "../core/base/clock.ts";
import type { CompanyContext } from "../core/base/context/context.ts";
import { createFairLine } from "../core/base/fair-line.ts";
import type { Metrics } from "../core/base/observe/metrics.ts";
import type { Tracing } from "../core/base/observe/tracing.ts";
import { createThreadPool } from "../core/base/threads/thread-pool.ts";
import type { Database } from "../core/database/database.ts";
import type { DiskWatch } from "../core/database/disk-watch.ts";
import type { WriterCount } from "../core/database/lanes.ts";
import { hostsOf } from "../core/database/postgres/hosts-of.ts";
import type { Authenticator } from "../core/http/callers.ts";
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
import type { OnWritten } from "../core/track/write-batch.ts";
import type { WriteQueue } from "../core/track/write-queue.ts";
import type { OwnServices } from "./app.ts";
import type { Config } from "./config.ts";
import { startSealingAs } from "./server-secrets.ts";

/* The services of the core, and the type of all services. */

/** Logging, metrics, tracing and the disk watch; created before the services. */
export interface Watching {
  readonly clock: Clock;
  readonly disk: DiskWatch;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** The services of the core, which the parts use too. */
export type CoreServices = FirstServices & ServicesWithParts;

/** Those that need no part. */
export type FirstServices = Awaited<ReturnType<typeof createFirst>>;

export type Services = CoreServices & OwnServices;

/** Services of the core that parts take part in. */
export interface ServicesWithParts {
  readonly authenticator: Authenticator;
  readonly onWritten: OnWritten;
  readonly writeQueue: WriteQueue;
  readonly forgetWorkspace: (workspaceId: number) => void;
  readonly forgetPerson: (person: ErasedPerson) => Promise<void>;
}

/** The lists that the services of the core are given. */
export interface AppLists {
  /** The resources that a manifest declares in a workspace, in the order in which it is applied. */
  readonly resources: readonly Resource[];
  readonly companyResources: readonly Resource<CompanyContext>[];
  readonly erasers: Erasers;
  readonly referenceErasers: readonly ReferenceEraser[];
  readonly nameErasers: readonly NameEraser[];
  readonly traceErasers: readonly TraceEraser[];
  readonly sealedKinds: readonly SealedKind[];
  readonly attentionSources: readonly AttentionSource[];
  readonly colleaguesAmong: Colleagues["colleaguesAmong"];
  readonly namesOfColleagues: NamingServices["namesOfColleagues"];
}

/** The services that need no part. */
export async function createFirst(
  config: Config,
  watching: Watching,
  { hash: adminTokenHash }: SharedSecret,
  lists: AppLists,
) {
  const { clock, disk, metrics, tracing } = watching;
  const { database } = disk;
  const stored = { database, clock };
  const sealing = await startSealingAs(config, { database, ...lists }, watching.log);
  /** How many processes write users, as this one last saw: see `core/admin/secrets/running-servers.ts`. */
  const writers = { seen: config.workers };
  const order = createOrder(database, () => Math.max(config.workers, writers.seen));
  const writing = { ...stored, ...order.shared, addressCache: createAddressCache(), tracing };
  const { maxRequests: requests, maxEventLoopDelayMs: eventLoopDelayMs } = config;
  const { previousAdminToken: previous } = config;
  return {
    ...watching,
    ...writing,
    ...createFeed(database),
    adminTokenHash,
    adminTokenHashes: [adminTokenHash, ...(previous ? [hashSecret(previous)] : [])],
    lastUsed: createLastUsed(database, clock),
    failedAttempts: createFailedAttempts(config.maxFailedAuth, metrics),
    dataDir: config.dataDir,
    outbound: createOutbound({
      allow: config.outboundAllow,
      own: config.databaseUrl ? hostsOf(config.databaseUrl) : [],
    }),
    load: createLoad({ requests, eventLoopDelayMs, ...bytesOfThisProcess() }, metrics),
    recordAuditedRead: createReadRecorder(stored),
    idempotency: createIdempotency(stored),
    rateLimits: createRateLimits(stored),
    resources: lists.resources,
    companyResources: lists.companyResources,
    colleaguesAmong: lists.colleaguesAmong,
    namesOfColleagues: lists.namesOfColleagues,
    erasers: lists.erasers,
    referenceErasers: lists.referenceErasers,
    nameErasers: lists.nameErasers,
    traceErasers: lists.traceErasers,
    attentionSources: lists.attentionSources,
    sealedKinds: lists.sealedKinds,
    shortestSecret: config.shortestSecret,
    readiness: { isReady: false },
    sealing,
    threads: createThreadPool(),
    quotas: createQuotas(database, clock),
    writers,
    writerCount: order.writerCount,
    mergeQueue: createMergeQueue({ ...stored, ...order.shared, tracing }),
    largePreviews: createFairLine({ places: 2, mostWaiting: 50, refusal: tooMuchLoad }),
    setQueue: createSetQueue(writing),
    mailer: config.smtpUrl ? createMailer(config.smtpUrl, config.smtpFrom) : undefined,
    /** Until the worker has started there is none to wake. */
    worker: { wake: () => {} },
  };
}

/** The readers of the change feed. */
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
