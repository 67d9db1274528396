import cluster from "node:cluster";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { DestinationStream, Logger } from "pino";
import { startWorker } from "../core/admin/jobs/worker.ts";
import { type Announcement, announceServer } from "../core/admin/secrets/running-servers.ts";
import { OlderManifest } from "../core/admin/workspaces/applied-manifests.ts";
import { applyManifest } from "../core/admin/workspaces/apply-manifest.ts";
import { applyManifestFile } from "../core/admin/workspaces/manifest-file.ts";
import type { ConfigChange } from "../core/admin/workspaces/resource.ts";
import { createSettableClock, type SettableClock } from "../core/base/clock.ts";
import { BY_THE_SERVER, type Context } from "../core/base/context/context.ts";
import { shareMetrics } from "../core/base/observe/cluster-metrics.ts";
import { createLog, flushLog } from "../core/base/observe/log.ts";
import { createMetrics, type Metrics } from "../core/base/observe/metrics.ts";
import type { Telemetry } from "../core/base/observe/open-telemetry.ts";
import { NO_TRACING } from "../core/base/observe/tracing.ts";
import { FULL_VERSION, RAPPORT_VERSION } from "../core/base/version.ts";
import { type Database, settleAll } from "../core/database/database.ts";
import { type DiskWatch, watchDisk } from "../core/database/disk-watch.ts";
import { followDatabaseClock } from "../core/database/follow-clock.ts";
import { type Meter, metered } from "../core/database/metered.ts";
import { refuseReadOnly } from "../core/database/migrations/examine.ts";
import { watchLocks } from "../core/database/postgres/watch-locks.ts";
import { traced } from "../core/database/traced.ts";
import { listenForMetrics } from "../core/http/metrics-listener.ts";
import type { AnsweredRequest } from "../core/http/observe.ts";
import { createServer } from "../core/http/server.ts";
import { type App, assemble, documentedEndpoints } from "./assemble.ts";
import type { Config } from "./config.ts";
import type { Services } from "./core-services.ts";
import { findDemoKey } from "./demo.ts";
import { listenLocally } from "./local-listener.ts";
import { migrateAll } from "./migration-steps.ts";
import { awaitDatabase } from "./open-database.ts";
import { createServices } from "./services.ts";
import { checkSettings } from "./start-checks.ts";
import type { Welcome } from "./welcome.ts";

/** A server that takes requests. */
export interface RunningServer {
  readonly welcome: Welcome;
  /** The address of a link that signs in to the dashboard as the administrator, once. Undefined if nothing signs in. */
  createSignInLink(): Promise<string | undefined>;
  /** Drains in-flight requests, then releases all resources. */
  stop(): Promise<void>;
}

/** How often expired rows are removed and, on the embedded engine, tables are vacuumed. */
const TIDY_EVERY_MS = 10 * 60 * 1_000;

/** A server that is not announced for a minute has ended. */
const ANNOUNCE_EVERY_MS = 5 * 1_000;

/** A single key is written less often than this: see `core/admin/access/last-used.ts`. */
const LAST_USED_EVERY_MS = 15 * 1_000;

/**
 * Starts a server: checks the settings, opens the engine, migrates, applies the manifest (or makes the demo workspace),
 * and listens. If something fails, everything opened so far is closed again.
 *
 * @param opening the engine, if the caller has begun to open it.
 */
export async function serve(
  config: Config,
  logTo?: DestinationStream,
  opening: Promise<Database> = awaitDatabase(config, logTo),
): Promise<RunningServer> {
  // It may fail before it is awaited.
  opening.catch(() => {});
  await checkSettings(config).catch(async (error) => {
    await opening.then(
      (database) => database.close(),
      () => {},
    );
    throw error;
  });
  const clock = config.clock ?? createSettableClock();
  const metrics = createMetrics(clock);
  const [log, opened] = await settleAll([createLog(config, logTo), opening]);
  opened.onEvent?.(({ level, message, details, isUp }) => {
    log[level](details, message);
    if (isUp !== undefined) metrics.databaseUp(isUp);
  });
  const telemetry = await openTelemetry(config, metrics, log);
  const { tracing } = telemetry;
  const watched = metered(
    tracing.receive ? traced(opened, tracing) : opened,
    meterWithLocks(opened, metrics, log),
  );
  const disk = watchDisk(watched, (isFull) =>
    isFull
      ? log.error(
          "The disk of the database is full. Writes are refused until that is mended; reads go on.",
        )
      : log.info("The disk of the database takes writes again."),
  );
  const { database } = disk;
  try {
    return await start(config, { clock, disk, log, metrics, telemetry });
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Also finds out which transactions the others wait for. */
function meterWithLocks(database: Database, metrics: Metrics, log: Logger): Meter {
  const locks = watchLocks(database, {
    held: (holder) => log.warn(holder, "requests wait for locks that another transaction holds"),
    released: ({ pid, application }) => log.info({ pid, application }, "the locks are released"),
    oldest: metrics.lockHolder,
  });
  return {
    statement: metrics.statement,
    transaction(use, ending) {
      metrics.transaction(use, ending);
      if (ending === "locked") locks.notice();
    },
  };
}

/** A member that the server takes from a part, if one has it. */
interface Offered {
  /** @returns the address of a link that signs in once. */
  readonly newSignInLink?: (context: Context, baseUrl: string) => Promise<string>;
}

interface Opened {
  readonly clock: SettableClock;
  readonly disk: DiskWatch;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
}

async function start(
  config: Config,
  { clock, disk, log, metrics, telemetry }: Opened,
): Promise<RunningServer> {
  const { database } = disk;
  // The embedded engine's clock is this machine's.
  const followsDatabase = database.engine !== "embedded" && config.clock === undefined;
  const unfollow = followsDatabase ? await followDatabaseClock(database, clock) : () => {};
  await refuseReadOnly(database);
  await migrateAll(database, config, clock, log);

  const watching = { clock, disk, log, metrics, tracing: telemetry.tracing };
  const app = await assemble();
  const { parts } = app;
  const { services, adminToken } = await createServices(config, watching, app);
  const { load, lastUsed } = services;
  const announced = await announceServer(services);
  const demo = await prepareWorkspaces(app, services, config);

  const server = createServer(services, endpointsOf(app, config), {
    ...config,
    onAnswered: listenerOf(app, services, config),
  });
  if (config.trustedProxies.length > 0 && config.publicUrl === undefined) {
    log.warn(
      "PUBLIC_URL is not set: links name the host that a request or its X-Forwarded-Host names",
    );
  }
  await server.listen({ host: config.host, port: config.port });
  const { port } = server.server.address() as AddressInfo;
  const localListener = await listenLocally(server.server, { ...config, port }, log);
  load.watch();
  shareMetrics(metrics.registry);
  const metricsListener =
    config.metricsPort === undefined || cluster.isWorker
      ? undefined
      : await listenForMetrics(metrics.registry, config.metricsHost, config.metricsPort);
  const worker = await startWorker(services, app.jobs, config.jobLeaseSeconds * 1_000);
  services.worker.wake = worker.wake;
  const started: { stop(): Promise<void> }[] = [worker];
  for (const { start } of parts) if (start) started.push(await start(services));
  services.readiness.isReady = true;
  const maintenance = startMaintenance(app, services, announced);

  const url = urlOf(server.server.address() as AddressInfo);
  log.info({ version: FULL_VERSION, url, node: process.versions.node }, "started");
  return {
    welcome: { url, adminToken, demo },
    createSignInLink: async () =>
      (services as Offered).newSignInLink?.(BY_THE_SERVER, config.publicUrl ?? url),
    async stop() {
      log.info("stopping");
      services.readiness.isReady = false;
      for (const timer of maintenance) clearInterval(timer);
      unfollow();
      await localListener?.close();
      services.changeWatch.stop();
      await server.close();
      // Connections are closed; their callers' requests may still be under way.
      await load.whenIdle();
      await settleAll(started.map((each) => each.stop()));
      load.stop();
      await services.threads.stop();
      metricsListener?.close();
      await announced.withdraw().catch(() => {});
      const finishing = parts.map(async ({ finish }) => finish?.(services));
      await settleAll([lastUsed.write(), ...finishing]).catch((error) =>
        log.warn({ code: error.code }, "not noted"),
      );
      await database.close();
      await telemetry.stop();
      await flushLog(log);
    },
  };
}

/** Periodic work. */
function startMaintenance(
  { sweeps, repeated }: App,
  services: Services,
  announced: Announcement,
): NodeJS.Timeout[] {
  const { database, clock, log, lastUsed, idempotency, metrics, writers } = services;
  return [
    every(TIDY_EVERY_MS, log, "tidying up", async () => {
      await idempotency.sweep();
      for (const sweep of sweeps) await sweep(database.for("maintenance"), clock.now(), metrics);
      await database.maintain();
    }),
    every(LAST_USED_EVERY_MS, log, "writing when keys were last used", () => lastUsed.write()),
    every(ANNOUNCE_EVERY_MS, log, "announcing this server", async () => {
      writers.seen = await announced.renew();
    }),
    ...repeated.map(({ ms, what, run }) => every(ms, log, what, () => run(services))),
  ];
}

/** Applies the manifest that the server was started with; without one, finds or makes the demo workspace. */
async function prepareWorkspaces(
  { demo }: App,
  services: Services,
  config: Config,
): Promise<Welcome["demo"] | undefined> {
  const { manifest: file, manifestForce } = config;
  if (!file) return findDemoKey(services, config, demo);
  const { log } = services;
  const options = { source: resolve(file), unlessOlder: !manifestForce };
  try {
    const changes = await applyManifestFile(file, process.env, (manifest) =>
      applyManifest(services, manifest, BY_THE_SERVER, options),
    );
    const details = { manifest: options.source, count: changes.length };
    const some = changes.slice(0, MOST_LOGGED).map(describeChange);
    log.info({ ...details, ...(some.length > 0 && { changes: some }) }, "manifest applied");
  } catch (error) {
    if (!(error instanceof OlderManifest)) throw error;
    log.warn(
      { manifest: options.source },
      `The manifest is not applied. ${error.message} ${REMEDY}`,
    );
  }
  return undefined;
}

/** How many changes of a manifest the log names. */
const MOST_LOGGED = 100;

const REMEDY =
  "Give this server that file, raise the version in its own, or start it with --force.";

const describeChange = ({ action, kind, workspace, name }: ConfigChange): string =>
  `${action} ${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;

const endpointsOf = (app: App, { webFolder }: Config) => [
  ...documentedEndpoints(app, webFolder),
  ...app.unlisted,
];

/** Tells every part that wants to know of the requests of API keys; undefined if none does. */
function listenerOf({ parts }: App, services: Services, config: Config) {
  const listeners = parts.flatMap((part) => part.onAnswered?.(services, config) ?? []);
  if (listeners.length === 0) return undefined;
  return (answered: AnsweredRequest) => {
    for (const listen of listeners) listen(answered);
  };
}

/** Runs a maintenance task periodically. One that fails is logged and done the next time. */
function every(ms: number, log: Logger, what: string, task: () => Promise<void>): NodeJS.Timeout {
  const run = () =>
    task().catch((error) => log.warn({ what, code: error.code }, "maintenance failed"));
  return setInterval(() => void run(), ms).unref();
}

function urlOf({ address, family, port }: AddressInfo): string {
  const isAnywhere = address === "0.0.0.0" || address === "::";
  const host = isAnywhere ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/**
 * Starts sending traces and metrics, if the settings ask for it. The libraries are loaded only
 * then.
 */
async function openTelemetry(
  { telemetry }: Config,
  { registry }: Metrics,
  log: Logger,
): Promise<Telemetry> {
  if (!telemetry) return { tracing: NO_TRACING, stop: async () => {} };
  const { startTelemetry } = await import("../core/base/observe/open-telemetry.ts");
  return startTelemetry(telemetry, { version: RAPPORT_VERSION, registry, log });
}
