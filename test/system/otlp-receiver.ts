/*
 * An OpenTelemetry collector, as far as tests need one: it takes OTLP over HTTP as JSON or protobuf, and lists the
 * spans and metrics that it got.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 if it failed. */
  readonly status: number | undefined;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly spans: ReceivedSpan[];
  /** The latest export: name, unit and points of each metric. */
  readonly metrics: Map<string, any>;
  readonly resource: () => Readonly<Record<string, unknown>>;
  /** The bodies as they came. */
  readonly bodies: Buffer[];
  /** Waits until the test's data has been sent. */
  until(isThere: () => boolean): Promise<void>;
  close(): Promise<void>;
}

const anyValue = (value: any): unknown => {
  const [only] = Object.values(value ?? {});
  return only;
};

const attributesOf = (attributes: any[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, anyValue(value)]));

/** @param respond replaces the acceptance of the data. */
export async function startReceiver(
  respond?: (response: ServerResponse) => void,
): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, any>();
  const bodies: Buffer[] = [];
  let wake = () => {};
  let resource: Record<string, unknown> = {};

  function take(path: string, body: any): void {
    const groups = body.resourceSpans ?? body.resourceMetrics ?? [];
    for (const group of groups) {
      resource = attributesOf(group.resource?.attributes);
      for (const scope of group.scopeSpans ?? group.scopeMetrics ?? []) {
        if (path === "/v1/traces") spans.push(...scope.spans.map(readSpan));
        else for (const metric of scope.metrics) metrics.set(metric.name, metric);
      }
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    bodies.push(body);
    if (respond) {
      wake();
      return respond(response);
    }
    const isJson = request.headers["content-type"] === "application/json";
    if (isJson) take(request.url ?? "", JSON.parse(body.toString()));
    wake();
    response.writeHead(200, { "content-type": request.headers["content-type"] ?? "" });
    response.end(isJson ? "{}" : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  after(close);
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    bodies,
    resource: () => resource,
    close,
    async until(isThere) {
      while (!isThere()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const readSpan = (span: any): ReceivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId || undefined,
  name: span.name,
  kind: span.kind,
  attributes: attributesOf(span.attributes),
  links: (span.links ?? []).map(({ traceId, spanId }: any) => ({ traceId, spanId })),
  status: span.status?.code,
});
