import type { Logger } from "pino";
import type { Metrics } from "../base/observe/metrics.ts";
import type { Telemetry } from "../base/observe/open-telemetry.ts";
import { NO_TRACING } from "../base/observe/tracing.ts";
import { RAPPORT_VERSION } from "../base/version.ts";
import type { Config } from "./config.ts";

/**
 * Starts sending traces and metrics, if the settings ask for it. The libraries are loaded only
 * then.
 */
export async function openTelemetry(
  { telemetry }: Config,
  { registry }: Metrics,
  log: Logger,
): Promise<Telemetry> {
  if (!telemetry) return { tracing: NO_TRACING, stop: async () => {} };
  const { startTelemetry } = await import("../base/observe/open-telemetry.ts");
  return startTelemetry(telemetry, { version: RAPPORT_VERSION, registry, log });
}
