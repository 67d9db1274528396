import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type ExportResult, ExportResultCode, parseTraceParent } from "@opentelemetry/core";
import { OTLPMetricExporter as JsonMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { metricProducer } from "./metric-producer.ts";
import { type ActiveSpan, NO_TRACING, type Resume, type Tracing } from "./tracing.ts";

/*
 * Traces and metrics for an OpenTelemetry collector (docs/operations/telemetry.md). Loaded only if
 * one is set. The libraries read the standard variables; nothing here is registered globally, so
 * that a program that embeds Rapport keeps its own.
 */

export type OtlpProtocol = "http/protobuf" | "http/json";

/** The signals to send, and how; undefined if none. */
export interface TelemetrySettings {
  readonly traces: OtlpProtocol | undefined;
  readonly metrics: OtlpProtocol | undefined;
  readonly metricsEveryMs: number;
}

export type Telemetry = ReturnType<typeof startTelemetry>;

/** A collector that does not respond must not keep a server from stopping. */
const LAST_EXPORT_MS = 2_000;

/** How long an export of metrics may take, at most; never longer than the interval. */
const METRICS_TIMEOUT_MS = 10_000;

/**
 * Starts the exporters that the settings ask for. Spans wait in a bounded queue
 * (`OTEL_BSP_MAX_QUEUE_SIZE`); more are dropped.
 */
export function startTelemetry(
  settings: TelemetrySettings,
  { version, registry, log }: { version: string; registry: Registry; log: Logger },
) {
  const resource = resourceOf(version);
  const report = reportChanges(log);
  const stops: (() => Promise<void>)[] = [];
  let tracing = NO_TRACING;
  if (settings.traces) {
    const exporter =
      settings.traces === "http/json" ? new JsonTraceExporter() : new OTLPTraceExporter();
    const spanProcessors = [new BatchSpanProcessor(watched(exporter, "traces", report))];
    const provider = new BasicTracerProvider({ resource, spanProcessors });
    stops.push(() => provider.shutdown());
    tracing = tracingOf(provider.getTracer("rapport", version));
  }
  if (settings.metrics) {
    const exporter =
      settings.metrics === "http/json" ? new JsonMetricExporter() : new OTLPMetricExporter();
    const reader = new PeriodicExportingMetricReader({
      exporter: watched(exporter, "metrics", report),
      exportIntervalMillis: settings.metricsEveryMs,
      exportTimeoutMillis: Math.min(METRICS_TIMEOUT_MS, settings.metricsEveryMs),
      metricProducers: [metricProducer(registry, resource, version)],
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    stops.push(() => provider.shutdown());
  }
  return {
    tracing,
    /** Sends the remaining data, for two seconds at most. */
    async stop() {
      const late = new Promise((resolve) => setTimeout(resolve, LAST_EXPORT_MS).unref());
      await Promise.race([Promise.allSettled(stops.map((stop) => stop())), late]);
    },
  };
}

/** Each server process is an instance; `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come last and win. */
const resourceOf = (version: string): Resource =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        "service.name": "rapport",
        "service.version": version,
        "service.instance.id": randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));

type Report = (signal: string, error: Error | undefined) => void;

/** Logs when exports begin to fail and when they work again, never each of them. */
function reportChanges(log: Logger): Report {
  const failing = new Set<string>();
  return (signal, error) => {
    if (error && !failing.has(signal)) {
      failing.add(signal);
      const { name, code } = error as Error & { code?: string | number };
      log.warn({ signal, error: name, code }, "telemetry is not accepted");
    } else if (!error && failing.delete(signal)) log.info({ signal }, "telemetry is accepted");
  };
}

/** The same exporter; its results are reported. */
function watched<
  Items,
  Exporter extends { export(items: Items, done: (result: ExportResult) => void): void },
>(exporter: Exporter, signal: string, report: Report): Exporter {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      const hasFailed = result.code !== ExportResultCode.SUCCESS;
      report(signal, hasFailed ? (result.error ?? new Error()) : undefined);
      done(result);
    });
  return exporter;
}

interface RecordedSpan extends ActiveSpan {
  readonly span: Span;
  readonly context: Context;
}

function tracingOf(tracer: Tracer): Tracing {
  const running = new AsyncLocalStorage<RecordedSpan | undefined>();

  const placeOf = (span: Span): RecordedSpan => ({
    traceId: span.spanContext().traceId,
    span,
    context: trace.setSpan(ROOT_CONTEXT, span),
  });

  /** The span that work belongs to: none once its request has its response. */
  const recorded = (place: ActiveSpan | undefined): RecordedSpan | undefined =>
    (place as RecordedSpan | undefined)?.span.isRecording() ? (place as RecordedSpan) : undefined;

  /** Runs work in a new span. Statements must keep their order, so it is called at once. */
  function run<Result>(
    name: string,
    parent: Context,
    options: { attributes: Attributes; links?: Link[]; kind?: SpanKind },
    work: (resume: Resume) => Promise<Result>,
  ): Promise<Result> {
    const place = placeOf(tracer.startSpan(name, options, parent));
    const resume: Resume = (resumed) => running.run(place, resumed);
    const result = resume(() => work(resume));
    result.then(
      () => place.span.end(),
      (error) => {
        fail(place.span, codeOf(error));
        place.span.end();
      },
    );
    return result;
  }

  return {
    receive(method, route, traceparent) {
      const remote = traceparent === undefined ? null : parseTraceParent(traceparent);
      const parent = remote
        ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true })
        : ROOT_CONTEXT;
      const attributes = { "http.request.method": method, ...(route && { "http.route": route }) };
      const name = route ? `${method} ${route}` : method;
      const place = placeOf(tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent));
      return {
        traceId: place.traceId,
        resume: (resumed) => running.run(place, resumed),
        end(more, failure) {
          place.span.setAttributes({ ...more });
          if (failure !== undefined) fail(place.span, failure);
          place.span.end();
        },
      };
    },
    current: () => recorded(running.getStore()),
    within(name, attributes, work) {
      const parent = recorded(running.getStore());
      if (!parent) return work((resumed) => resumed());
      return run(name, parent.context, { attributes, kind: kindOf(attributes) }, work);
    },
    together(name, callers, attributes, work) {
      const places = callers.flatMap(({ place }) => recorded(place) ?? []);
      const [parent, ...others] = places;
      // The loop that called this belongs to one of the callers, or to one of before.
      if (!parent) return running.run(undefined, work);
      const links = others.map(({ span }) => ({ context: span.spanContext() }));
      return run(name, parent.context, { attributes, links }, work);
    },
    alone: (name, attributes, work) => run(name, ROOT_CONTEXT, { attributes }, work),
  };
}

/** Statements are calls of another system. */
const kindOf = (attributes: Attributes): SpanKind =>
  "db.operation.name" in attributes ? SpanKind.CLIENT : SpanKind.INTERNAL;

/** The message of an error may quote data, so it is left out. */
function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const codeOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : String(name);
};
