import Type from "typebox";
import type { Database } from "../database/database.ts";
import { byAnybody, endpoint } from "../http/endpoint.ts";
import type { Load } from "../http/load.ts";
import { Problem } from "../problem.ts";

export interface HealthServices {
  readonly database: Database;
  /** Whether the server takes requests: it is migrated, the manifest applied, and it is not stopping. */
  readonly readiness: { isReady: boolean };
  readonly load: Load;
}

const Ok = Type.Object({ message: Type.Literal("success") });

const live = endpoint({
  method: "GET",
  path: "/health/live",
  summary: "Says that the process runs.",
  access: byAnybody,
  isEssential: true,
  replies: { 200: Ok },
}).handledBy(async () => ({ status: 200, body: { message: "success" } }));

/** How long the database may take to answer before the server calls itself not ready. */
const PATIENCE_MS = 2_000;

const ready = endpoint({
  method: "GET",
  path: "/health/ready",
  summary:
    "Says that requests are taken: migrated, manifest applied, not overloaded, and the database answers.",
  access: byAnybody,
  isEssential: true,
  replies: { 200: Ok },
}).handledBy(async ({ database, readiness, load }: HealthServices) => {
  if (!readiness.isReady) throw notReady("The server is starting or stopping.");
  if (load.overload()) throw notReady("The server has too much to do.");
  const answers = await Promise.race([
    database.query("select 1").then(
      () => true,
      () => false,
    ),
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, false).unref()),
  ]);
  if (!answers) throw notReady("The database does not answer.");
  return { status: 200, body: { message: "success" } };
});

const notReady = (reason: string) => new Problem("UNAVAILABLE", reason, { retryAfterSeconds: 1 });

export const healthEndpoints = [live, ready];
