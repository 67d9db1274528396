import type { AddressInfo } from "node:net";
import pino, { type DestinationStream, type Logger } from "pino";
import { createAuthenticator } from "./access/authenticate.ts";
import { keptSecret } from "./access/kept-secret.ts";
import { createRateLimits } from "./access/rate-limits.ts";
import { createSightings } from "./access/sightings.ts";
import { COMPANY_SECTIONS, ENDPOINTS, ERASERS, JOBS, SECTIONS, SWEEPERS } from "./app.ts";
import { BY_THE_SERVER } from "./audit/audit.ts";
import { systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { type Database, isUnavailable } from "./database/database.ts";
import { migrate } from "./database/migrate.ts";
import { openEmbedded } from "./database/pglite.ts";
import { openPostgres } from "./database/postgres.ts";
import { documentationEndpoints } from "./http/documentation.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { bodyBytesOfThisProcess, createLoad } from "./http/load.ts";
import { listenForMetrics } from "./http/metrics-listener.ts";
import { createServer } from "./http/server.ts";
import { startWorker, type Worker } from "./jobs/worker.ts";
import { createMailer } from "./mailer.ts";
import { createMetrics } from "./metrics.ts";
import { createLinks } from "./preference-centers/links.ts";
import { createPageMemory } from "./preference-centers/page-memory.ts";
import { createPageViews } from "./preference-centers/page-views.ts";
import { createKnownIds } from "./profiles/known-ids.ts";
import { createWriteQueue } from "./track/write-queue.ts";
import type { Welcome } from "./welcome.ts";
import { applyManifest } from "./workspaces/apply.ts";
import { ensureDemo } from "./workspaces/demo.ts";
import { applyManifestFile } from "./workspaces/manifest-file.ts";

/** A server that takes requests. */
export interface RunningServer {
  readonly welcome: Welcome;
  /** Answers what is in flight, then lets go of everything. */
  stop(): Promise<void>;
}

/** How often what has expired is removed and, on the embedded engine, tables are vacuumed. */
const TIDY_EVERY_MS = 10 * 60 * 1_000;

/** A key is written less often than that: see `access/sightings.ts`. */
const SIGHTINGS_EVERY_MS = 15 * 1_000;

/** The engine that the settings ask for. @throws where it cannot be reached. */
export const openDatabase = (config: Config): Promise<Database> =>
  config.databaseUrl
    ? openPostgres(config.databaseUrl).catch(refuseDatabase)
    : openEmbedded(config.dataDir);

function refuseDatabase(error: Error): never {
  if (!isUnavailable(error)) throw error;
  throw new Error(`The database of DATABASE_URL cannot be used: ${error.message}.`);
}

/**
 * Starts a server: opens the engine, migrates, applies the manifest (or makes the demo workspace),
 * and listens. Where something fails, whatever was opened is closed again.
 */
export async function serve(
  config: Config,
  logTo: DestinationStream = pino.destination(2),
): Promise<RunningServer> {
  const log = pino({ level: config.logLevel, base: null }, logTo);
  const database = await openDatabase(config);
  try {
    return await start(config, database, log);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function start(config: Config, database: Database, log: Logger): Promise<RunningServer> {
  const applied = await migrate(database);
  if (applied.length > 0) log.info({ migrations: applied }, "migrated");

  const clock = systemClock;
  const adminToken =
    config.adminToken ?? (await keptSecret(config.dataDir, "admin-token", "admin"));
  const sightings = createSightings(database, clock);
  const authenticator = createAuthenticator({ database, clock, sightings }, adminToken);
  const idempotency = createIdempotency({ database, clock });
  const metrics = createMetrics();
  const knownIds = createKnownIds();
  let worker: Worker | undefined;
  const load = createLoad(
    { requests: config.maxRequests, bodyBytes: bodyBytesOfThisProcess() },
    metrics,
  );
  const services = {
    database,
    clock,
    log,
    metrics,
    load,
    authenticator,
    sightings,
    idempotency,
    rateLimits: createRateLimits({ database, clock }),
    sections: SECTIONS,
    companySections: COMPANY_SECTIONS,
    erasers: ERASERS,
    readiness: { isReady: false },
    links: createLinks(database, clock),
    pageViews: createPageViews(database),
    pageMemory: createPageMemory(),
    knownIds,
    writeQueue: createWriteQueue(
      { database, clock, idempotency, metrics, knownIds },
      config.workers,
    ),
    mailer: config.smtpUrl ? createMailer(config.smtpUrl, config.smtpFrom) : undefined,
    worker: { wake: () => worker?.wake() },
  };
  const demoKey = config.manifest
    ? await applyManifestFile(config.manifest, process.env, (manifest) =>
        applyManifest(services, manifest, BY_THE_SERVER),
      ).then(() => undefined)
    : await ensureDemo(services, config.dataDir);

  const endpoints = [...ENDPOINTS, ...documentationEndpoints(ENDPOINTS.map((e) => e.contract))];
  const server = createServer(services, endpoints, config);
  await server.listen({ host: config.host, port: config.port });
  const metricsListener =
    config.metricsPort === undefined
      ? undefined
      : await listenForMetrics(metrics.registry, config.host, config.metricsPort);
  worker = await startWorker(services, JOBS, config.jobLeaseSeconds * 1_000);
  services.readiness.isReady = true;
  const chores = [
    every(TIDY_EVERY_MS, log, "tidying up", async () => {
      await idempotency.sweep();
      for (const sweep of SWEEPERS) await sweep(database, clock.now());
      await database.maintain();
    }),
    every(SIGHTINGS_EVERY_MS, log, "noting keys last seen", () => sightings.write()),
  ];

  return {
    welcome: { url: urlOf(server.server.address() as AddressInfo), adminToken, demoKey },
    async stop() {
      log.info("stopping");
      services.readiness.isReady = false;
      for (const chore of chores) clearInterval(chore);
      await server.close();
      // Connections are closed; what their callers asked for may still be under way.
      await load.whenIdle();
      await worker?.stop();
      load.stop();
      metricsListener?.close();
      await sightings.write().catch((error) => log.warn({ code: error.code }, "not noted"));
      await database.close();
    },
  };
}

/** Does something now and then; where it fails, the next time will do. */
function every(ms: number, log: Logger, what: string, chore: () => Promise<void>): NodeJS.Timeout {
  const run = () => chore().catch((error) => log.warn({ what, code: error.code }, "chore failed"));
  return setInterval(() => void run(), ms).unref();
}

function urlOf({ address, family, port }: AddressInfo): string {
  const isAnywhere = address === "0.0.0.0" || address === "::";
  const host = isAnywhere ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
