import type { Logger } from "pino";
import { Problem } from "../core/base/problem.ts";
import { OnlySuccess, succeeding, Text } from "../core/base/values/schemas.ts";
import { FULL_VERSION } from "../core/base/version.ts";
import { type Database, describeUnavailable, READ_ONLY } from "../core/database/database.ts";
import type { DiskWatch } from "../core/database/disk-watch.ts";
import { byAnybody, endpoint, success } from "../core/http/endpoint.ts";
import type { Load } from "../core/http/load.ts";

export interface HealthServices {
  readonly database: Database;
  /** Whether the server takes requests: it is migrated, the manifest applied, and it is not stopping. */
  readonly readiness: { isReady: boolean };
  readonly load: Load;
  readonly disk: Pick<DiskWatch, "hasSpace">;
  readonly log: Pick<Logger, "warn" | "info">;
}

/** The last state of each server, for its log. */
const lastSaid = new WeakMap<HealthServices["readiness"], string>();

/** Logs a change of what a server says of itself. @param failure undefined if it is ready. */
function logChange({ readiness, log }: HealthServices, failure: string | undefined): void {
  const before = lastSaid.get(readiness);
  if (before === failure) return;
  if (failure !== undefined) {
    lastSaid.set(readiness, failure);
    log.warn({ reason: failure }, "not ready");
  } else {
    lastSaid.delete(readiness);
    log.info("ready again");
  }
}

const live = endpoint({
  name: "checkLiveness",
  method: "GET",
  path: "/health/live",
  summary: "Reports that the process runs.",
  access: byAnybody,
  isEssential: true,
  replies: succeeding({
    version: Text("The version that runs.", "0.1.0"),
  }),
}).handledBy(async () => success({ version: FULL_VERSION }));

/** How long the database may take to answer before the server calls itself not ready. */
const PATIENCE_MS = 1_750;

const ready = endpoint({
  name: "checkReadiness",
  method: "GET",
  path: "/health/ready",
  summary:
    "Reports that requests are accepted: migrated, manifest applied, not overloaded, and the database responds, accepts writes and has space.",
  access: byAnybody,
  isEssential: true,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: HealthServices) => {
  if (!services.readiness.isReady) throw notReady("The server is starting or stopping.");
  const failure = await whyNotReady(services);
  logChange(services, failure);
  if (failure) throw notReady(failure);
  return success();
});

async function whyNotReady({ database, load, disk }: HealthServices): Promise<string | undefined> {
  if (load.overload()) return "The server is overloaded.";
  const late = new Promise<string>((resolve) => {
    setTimeout(resolve, PATIENCE_MS, describeUnavailable(undefined)).unref();
  });
  return Promise.race([failureOf(database, disk), late]);
}

/** The fault of the database, in a sentence; undefined if it can be written to. */
async function failureOf(
  database: Database,
  disk: HealthServices["disk"],
): Promise<string | undefined> {
  const trouble = database.trouble?.();
  if (trouble) return trouble.sentence;
  try {
    if (database.ping) await database.ping();
    else if (await isReadOnly(database)) return describeUnavailable({ code: READ_ONLY });
  } catch (error) {
    return describeUnavailable(error);
  }
  return (await disk.hasSpace()) ? undefined : "The disk of the database is full.";
}

async function isReadOnly(database: Database): Promise<boolean> {
  const [settings] = await database.query<{ readOnly: string }>(
    `select current_setting('transaction_read_only') as "readOnly"`,
  );
  return settings?.readOnly === "on";
}

const notReady = (reason: string) => new Problem("UNAVAILABLE", reason, { retryAfterSeconds: 1 });

export const healthEndpoints = [live, ready];
