import type { OtlpProtocol, TelemetrySettings } from "../base/observe/open-telemetry.ts";

/* The standard variables of OpenTelemetry that say whether and how something is sent. Its libraries read the others. */

const EVERY_MS = 60_000;

/** @throws the error that `refuse` makes for an invalid value. */
export function readTelemetry(
  environment: NodeJS.ProcessEnv,
  refuse: (name: string, value: string, rule: string) => Error,
): TelemetrySettings | undefined {
  const text = (name: string): string => environment[name]?.trim() ?? "";

  function protocolOf(signal: "TRACES" | "METRICS"): OtlpProtocol | undefined {
    const own = `OTEL_EXPORTER_OTLP_${signal}`;
    const name = text(`${own}_ENDPOINT`) ? `${own}_ENDPOINT` : "OTEL_EXPORTER_OTLP_ENDPOINT";
    const endpoint = text(name);
    const exporter = `OTEL_${signal}_EXPORTER`;
    if (!endpoint || text(exporter) === "none") return undefined;
    if (text(exporter) && text(exporter) !== "otlp") {
      throw refuse(exporter, text(exporter), "it is otlp or none.");
    }
    if (!/^https?:\/\/./.test(endpoint) || !URL.canParse(endpoint)) {
      // The value is left out of the message: it may contain a password.
      throw refuse(name, "…", "it is an address such as http://127.0.0.1:4318.");
    }
    const of = text(`${own}_PROTOCOL`) ? `${own}_PROTOCOL` : "OTEL_EXPORTER_OTLP_PROTOCOL";
    const protocol = text(of) || "http/protobuf";
    if (protocol === "http/protobuf" || protocol === "http/json") return protocol;
    throw refuse(
      of,
      protocol,
      "it is http/protobuf or http/json, which collectors take on port 4318.",
    );
  }

  function readInterval(): number {
    const name = "OTEL_METRIC_EXPORT_INTERVAL";
    if (!text(name)) return EVERY_MS;
    const ms = Number(text(name));
    if (/^\d+$/.test(text(name)) && ms >= 100 && ms <= 86_400_000) return ms;
    throw refuse(name, text(name), "it is a whole number of milliseconds from 100 to 86400000.");
  }

  if (text("OTEL_SDK_DISABLED").toLowerCase() === "true") return undefined;
  const [traces, metrics] = [protocolOf("TRACES"), protocolOf("METRICS")];
  return traces || metrics ? { traces, metrics, metricsEveryMs: readInterval() } : undefined;
}
