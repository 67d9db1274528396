import cluster from "node:cluster";
import type { AddressInfo } from "node:net";
import type { DestinationStream, Logger } from "pino";
import { createAuthenticator } from "../access/authenticate.ts";
import { createFailedAttempts } from "../access/failed-attempts.ts";
import { createLastUsed } from "../access/last-used.ts";
import { createRateLimits } from "../access/rate-limits.ts";
import { publicEndpoints } from "../capture/public-endpoints.ts";
import { createMailer } from "../cdi/mailer.ts";
import { systemClock } from "../clock.ts";
import { BY_THE_SERVER } from "../context/context.ts";
import { createSessions } from "../dashboard-users/sessions.ts";
import { type Database, settleAll } from "../database/database.ts";
import { type DiskWatch, watchDisk } from "../database/disk-watch.ts";
import { countShards } from "../database/distribute.ts";
import { metered } from "../database/metered.ts";
import { migrate } from "../database/migrate.ts";
import { traced } from "../database/traced.ts";
import { createLargeExports } from "../export/export-by-ids.ts";
import { createExportSlots } from "../export/export-stream.ts";
import { createSmallExports } from "../export/small-exports.ts";
import { createIdempotency } from "../http/idempotency.ts";
import { bytesOfThisProcess, createLoad } from "../http/load.ts";
import { listenForMetrics } from "../http/metrics-listener.ts";
import { createServer } from "../http/server.ts";
import { createMergeQueue } from "../identity/merge-queue.ts";
import { startWorker, type Worker } from "../jobs/worker.ts";
import { answerLiveRequests } from "../live-requests/read-requests.ts";
import { createRequestLog } from "../live-requests/request-log.ts";
import { answerLooks } from "../live-requests/stream-requests.ts";
import { createStreamSlots } from "../live-requests/stream-slots.ts";
import { shareMetrics } from "../observe/cluster-metrics.ts";
import { createLog, flushLog } from "../observe/log.ts";
import { createMetrics, type Metrics } from "../observe/metrics.ts";
import type { Telemetry } from "../observe/open-telemetry.ts";
import { createProcesses } from "../observe/processes.ts";
import { answerTraffic } from "../overview/read-overview.ts";
import { createAddressCache } from "../people/address-cache.ts";
import { createIdCache } from "../people/id-cache.ts";
import { createCenterCache } from "../preference-centers/center-cache.ts";
import { createLinks } from "../preference-centers/links.ts";
import { createPageLimits } from "../preference-centers/page-limits.ts";
import { createPageViews } from "../preference-centers/page-views.ts";
import { createQuotas } from "../quotas/quotas.ts";
import { documentationEndpoints } from "../reference/documentation.ts";
import { createIdentityProvider } from "../sign-in/identity-provider.ts";
import { createSignInLink } from "../sign-in/links.ts";
import { createSetQueue } from "../subscriptions/set-queue.ts";
import { createThreadPool } from "../threads/thread-pool.ts";
import { createWriteQueue } from "../track/write-queue.ts";
import { applyManifest } from "../workspaces/apply-manifest.ts";
import { applyManifestFile } from "../workspaces/manifest-file.ts";
import { findAdminToken } from "./admin-token.ts";
import {
  browserPages,
  COMPANY_RESOURCES,
  ENDPOINTS,
  ERASERS,
  JOBS,
  RESOURCES,
  SEALED_KINDS,
  SWEEPERS,
} from "./app.ts";
import type { Config } from "./config.ts";
import { findDemoKey } from "./demo.ts";
import { openDatabase } from "./open-database.ts";
import { startSealingAs } from "./secret-keys.ts";
import { openTelemetry } from "./telemetry.ts";
import type { Welcome } from "./welcome.ts";

/** A server that takes requests. */
export interface RunningServer {
  readonly welcome: Welcome;
  /** The address of a link that signs in to the dashboard as the administrator, once. */
  createSignInLink(): Promise<string>;
  /** Drains in-flight requests, then releases all resources. */
  stop(): Promise<void>;
}

/** How often what has expired is removed and, on the embedded engine, tables are vacuumed. */
const TIDY_EVERY_MS = 10 * 60 * 1_000;

/** One key is written less often: see `access/last-used.ts`. */
const LAST_USED_EVERY_MS = 15 * 1_000;

/**
 * Starts a server: opens the engine, migrates, applies the manifest (or makes the demo workspace),
 * and listens. Where something fails, whatever was opened is closed again.
 *
 * @param opening the engine, if the caller has begun to open it.
 */
export async function serve(
  config: Config,
  logTo?: DestinationStream,
  opening: Promise<Database> = openDatabase(config),
): Promise<RunningServer> {
  const metrics = createMetrics();
  const [log, opened] = await settleAll([createLog(config, logTo), opening]);
  const telemetry = await openTelemetry(config, metrics, log);
  const { tracing } = telemetry;
  const watched = metered(tracing.receive ? traced(opened, tracing) : opened, metrics);
  const disk = watchDisk(watched, (isFull) =>
    isFull ? log.error("the disk is full") : log.info("the disk has space again"),
  );
  const { database } = disk;
  try {
    return await start(config, disk, log, metrics, telemetry);
  } catch (error) {
    await database.close();
    throw error;
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the services in the order in which they need each other.
async function start(
  config: Config,
  disk: DiskWatch,
  log: Logger,
  metrics: Metrics,
  telemetry: Telemetry,
): Promise<RunningServer> {
  const { database } = disk;
  const { tracing } = telemetry;
  const applied = await migrate(database, config.citusShards);
  if (applied.length > 0) log.info({ migrations: applied }, "migrated");

  const clock = systemClock;
  const sealing = await startSealingAs(config, { database, sealedKinds: SEALED_KINDS }, log);
  const adminToken = await findAdminToken({ database, clock }, config);
  const { hash: adminTokenHash } = adminToken;
  const lastUsed = createLastUsed(database, clock);
  const failedAttempts = createFailedAttempts(config.maxFailedAuth, metrics);
  const sessions = createSessions({ database, clock }, adminTokenHash, config);
  const identityProvider = config.oidc && (await createIdentityProvider(config.oidc));
  const authenticator = createAuthenticator(
    { database, clock, lastUsed, failedAttempts, sessions },
    adminTokenHash,
    { sign_in: { oidc: identityProvider?.view ?? null } },
  );
  const idempotency = createIdempotency({ database, clock });
  const idCache = createIdCache();
  const quotas = createQuotas(database, clock);
  const addressCache = createAddressCache();
  let worker: Worker | undefined;
  const { maxRequests: requests, maxEventLoopDelayMs: eventLoopDelayMs } = config;
  const load = createLoad({ requests, eventLoopDelayMs, ...bytesOfThisProcess() }, metrics);
  const services = {
    database,
    disk,
    dataDir: config.dataDir,
    clock,
    log,
    metrics,
    tracing,
    load,
    authenticator,
    lastUsed,
    sessions,
    failedAttempts,
    adminTokenHash,
    identityProvider,
    requestLog: createRequestLog(clock, config.liveRequests),
    streamSlots: createStreamSlots(),
    processes: createProcesses(),
    idempotency,
    rateLimits: createRateLimits({ database, clock }),
    resources: RESOURCES,
    shortestSecret: config.shortestSecret,
    companyResources: COMPANY_RESOURCES,
    erasers: ERASERS,
    readiness: { isReady: false },
    sealing,
    sealedKinds: SEALED_KINDS,
    links: createLinks({ database, clock, sealing }, config.pageLinkDays),
    pageLimits: createPageLimits(config.pageLimit),
    pageViews: createPageViews(database),
    centerCache: createCenterCache(),
    threads: createThreadPool(),
    exportSlots: createExportSlots(),
    idCache,
    quotas,
    addressCache,
    writeQueue: createWriteQueue(
      { database, clock, idempotency, metrics, tracing, idCache, addressCache, quotas },
      config.workers,
      await countShards(database),
    ),
    mergeQueue: createMergeQueue({ database, clock, tracing }),
    smallExports: createSmallExports({ database, tracing }),
    largeExports: createLargeExports(),
    setQueue: createSetQueue({ database, clock, tracing, idCache, addressCache }),
    mailer: config.smtpUrl ? createMailer(config.smtpUrl, config.smtpFrom) : undefined,
    worker: { wake: () => worker?.wake() },
  };
  const demo = config.manifest
    ? await applyManifestFile(config.manifest, process.env, (manifest) =>
        applyManifest(services, manifest, BY_THE_SERVER),
      ).then(() => undefined)
    : await findDemoKey(services, config);

  const endpoints = [
    ...ENDPOINTS,
    ...documentationEndpoints(),
    ...publicEndpoints,
    ...browserPages(config.webFolder),
  ];
  const server = createServer(services, endpoints, {
    ...config,
    onAnswered: config.liveRequests > 0 ? services.requestLog.note : undefined,
  });
  await server.listen({ host: config.host, port: config.port });
  load.watch();
  answerLiveRequests(services);
  answerLooks(services);
  answerTraffic(services);
  shareMetrics(metrics.registry);
  const metricsListener =
    config.metricsPort === undefined || cluster.isWorker
      ? undefined
      : await listenForMetrics(metrics.registry, config.metricsHost, config.metricsPort);
  worker = await startWorker(services, JOBS, config.jobLeaseSeconds * 1_000);
  services.readiness.isReady = true;
  const chores = [
    every(TIDY_EVERY_MS, log, "tidying up", async () => {
      await idempotency.sweep();
      for (const sweep of SWEEPERS) await sweep(database.for("analysis"), clock.now());
      await database.maintain();
    }),
    every(LAST_USED_EVERY_MS, log, "writing when keys were last used", () => lastUsed.write()),
  ];

  const url = urlOf(server.server.address() as AddressInfo);
  return {
    welcome: { url, adminToken, demo },
    createSignInLink: async () =>
      (await createSignInLink(services, BY_THE_SERVER, config.publicUrl ?? url)).url,
    async stop() {
      log.info("stopping");
      services.readiness.isReady = false;
      for (const chore of chores) clearInterval(chore);
      await server.close();
      // Connections are closed; what their callers asked for may still be under way.
      await load.whenIdle();
      await worker?.stop();
      load.stop();
      await services.threads.stop();
      metricsListener?.close();
      await lastUsed.write().catch((error) => log.warn({ code: error.code }, "not noted"));
      await database.close();
      await telemetry.stop();
      await flushLog(log);
    },
  };
}

/** Does a chore periodically. One that fails is logged and done the next time. */
function every(ms: number, log: Logger, what: string, chore: () => Promise<void>): NodeJS.Timeout {
  const run = () => chore().catch((error) => log.warn({ what, code: error.code }, "chore failed"));
  return setInterval(() => void run(), ms).unref();
}

function urlOf({ address, family, port }: AddressInfo): string {
  const isAnywhere = address === "0.0.0.0" || address === "::";
  const host = isAnywhere ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
