/* Traces and metrics as an OpenTelemetry collector gets them, from servers that run as separate processes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfig } from "../../../src/server/config.ts";
import { freshDatabase } from "../../core/database/fresh-database.ts";
import { freePort } from "../../free-port.ts";
import { ENGINE } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, post, startChild } from "../child-server.ts";
import { type OtlpReceiver, type ReceivedSpan, startReceiver } from "../otlp-receiver.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

const PERSONAL = {
  external_id: "id-of-ada",
  email: "ada@example.com",
  phone: "+14155552671",
  first_name: "Augusta",
  home_city: "Marylebone",
};

const receiver = await startReceiver();
const metricsPort = await freePort();
async function startServer(settings: Record<string, string>): Promise<ChildServer> {
  return startChild({
    DATABASE_URL: (await freshDatabase()) ?? "",
    DATA_DIR: await temporaryFolder(),
    ...settings,
  });
}

const sentTo = ({ endpoint }: OtlpReceiver, more: Record<string, string> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_METRIC_EXPORT_INTERVAL: "200",
  ...more,
});

/** Every request is traced; for the tests that need nothing else. */
const server = await startServer(
  sentTo(receiver, { OTEL_SERVICE_NAME: "engage", METRICS_PORT: String(metricsPort) }),
);

const track = ({ url, key }: ChildServer, body: object, headers: Record<string, string> = {}) =>
  post(`${url}/users/track`, key, body, headers);

const event = (id: string) => ({ external_id: id, name: "came", time: new Date().toISOString() });

/** The spans from the one with this name up to the root. */
function pathOf(spans: readonly ReceivedSpan[], name: string): string[] {
  const path: string[] = [];
  let span = spans.find((each) => each.name === name);
  while (span) {
    path.push(span.name);
    const { parentSpanId } = span;
    span = spans.find(({ spanId }) => spanId === parentSpanId);
  }
  return path;
}

describe("traces", () => {
  test("a track request is one trace from the caller's span to the statements of its transaction", async () => {
    const body = { attributes: [{ external_id: "eve" }], events: [event("eve")] };
    const { status } = await track(server, body, { traceparent: `00-${TRACE}-${CALLER}-01` });
    assert.equal(status, 201);
    const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    await receiver.until(() => ofTrace().some(({ kind }) => kind === 2));
    const spans = ofTrace();
    const request = spans.find(({ name }) => name === "POST /users/track");
    assert.equal(request?.parentSpanId, CALLER);
    const { "rapport.request_id": id, ...attributes } = request?.attributes ?? {};
    assert.deepEqual(attributes, {
      "http.request.method": "POST",
      "http.route": "/users/track",
      "http.response.status_code": 201,
      "rapport.workspace": "demo",
    });
    assert.match(String(id), /^[0-9a-f-]{36}$/);
    assert.deepEqual(pathOf(spans, "insert events"), [
      "insert events",
      "transaction",
      "write batch",
      "POST /users/track",
    ]);
    const statement = spans.find(({ name }) => name === "insert events");
    assert.equal(statement?.kind, 3);
    assert.deepEqual(statement?.attributes, {
      "db.system.name": ENGINE === "postgres" ? "postgresql" : "pglite",
      "db.operation.name": "insert",
      "db.collection.name": "events",
      "rapport.use": "intake",
    });
    const resource = receiver.resource();
    assert.equal(resource["service.name"], "engage");
    assert.match(String(resource["service.instance.id"]), /^[0-9a-f-]{36}$/);
  });

  test("requests that share a transaction are linked with it", async () => {
    const before = new Set(receiver.spans);
    // Each is a separate trace; some of them share a transaction.
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => track(server, { events: [event(`u${index}`)] })),
    );
    const added = (name: string) =>
      receiver.spans.filter((span) => span.name === name && !before.has(span));
    await receiver.until(() => added("POST /users/track").length === 40);
    const requests = added("POST /users/track");
    const batches = added("write batch");
    assert.ok(batches.length < 40, "None shared a transaction.");
    const served = batches.flatMap(({ parentSpanId, links }) => [
      parentSpanId,
      ...links.map(({ spanId }) => spanId),
    ]);
    assert.deepEqual([...new Set(served)].sort(), requests.map(({ spanId }) => spanId).sort());
  });

  test("spans and metrics hold no personal data and no secret, not even of refused and failed requests", async () => {
    const { external_id, email, home_city } = PERSONAL;
    const send = (path: string, body: object) => post(server.url + path, server.key, body);
    await track(server, { attributes: [PERSONAL] });
    await track(server, { attributes: [{ ...PERSONAL, dob: email }] });
    await send(`/users/${external_id}?q=${home_city}`, {});
    await send("/users/export/ids", { external_ids: [external_id] });
    const merge = { identifier_to_merge: { external_id }, identifier_to_keep: { email } };
    await send("/users/merge", { merge_updates: [merge] });
    await receiver.until(() => receiver.spans.some(({ name }) => name === "POST /users/merge"));
    const unknown = receiver.spans.find(({ name }) => name === "POST");
    assert.equal(unknown?.attributes["http.response.status_code"], 404);
    const sent = Buffer.concat(receiver.bodies).toString("latin1");
    assert.ok(sent.includes("insert events"));
    for (const value of [...Object.values(PERSONAL), server.key]) {
      assert.ok(!sent.includes(value), value);
    }
  });
});

describe("metrics", () => {
  test("the metrics of the metrics port are sent with the same names, values and buckets", async () => {
    const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const value = (series: string) =>
      Number(new RegExp(`^${series} (.*)$`, "m").exec(scraped)?.[1]);
    const { metrics } = receiver;
    const items = () => metrics.get("rapport_track_items_total")?.sum;
    const applied = () =>
      items()?.dataPoints.find(
        ({ attributes }: any) => attributes[0].value.stringValue === "applied",
      ).asDouble;
    const scrapedItems = value('rapport_track_items_total{outcome="applied"}');
    await receiver.until(() => applied() === scrapedItems);
    assert.deepEqual([items().isMonotonic, items().aggregationTemporality], [true, 2]);
    const batches = metrics.get("rapport_write_batch_items").histogram.dataPoints[0];
    assert.equal(Number(batches.count), value("rapport_write_batch_items_count"));
    assert.equal(batches.sum, value("rapport_write_batch_items_sum"));
    assert.equal(
      Number(batches.bucketCounts[0]),
      value('rapport_write_batch_items_bucket{le="1"}'),
    );
    assert.equal(batches.bucketCounts.length, batches.explicitBounds.length + 1);
    assert.equal(metrics.get("rapport_write_batch_duration_seconds").unit, "s");
    const names = [...scraped.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string);
    assert.ok(names.length > 30);
    assert.deepEqual(
      names.filter((name) => !metrics.has(name)),
      [],
    );
  });
});

describe("a collector that fails", () => {
  test("a collector that never responds neither fails requests nor keeps the server from stopping", async () => {
    const silent = await startReceiver(() => {});
    const server = await startServer(
      sentTo(silent, { OTEL_BSP_MAX_QUEUE_SIZE: "64", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "16" }),
    );
    for (let round = 0; round < 20; round++) {
      const sent = Array.from({ length: 10 }, (_, each) =>
        track(server, { events: [event(`u${each}`)] }),
      );
      for (const { status } of await Promise.all(sent)) assert.equal(status, 201);
    }
    const { code, stderr } = await server.end("SIGTERM");
    assert.deepEqual([code, stderr], [0, ""]);
  });
});

describe("the libraries of OpenTelemetry", () => {
  test("the variables of one signal turn on that signal alone, and an impossible one is refused", () => {
    const telemetryOf = (settings: Record<string, string>) => {
      const { traces, metrics } = readConfig(settings).telemetry ?? {};
      return [traces, metrics];
    };
    const endpoint = "http://127.0.0.1:4318";
    const protobuf = "http/protobuf";
    assert.equal(readConfig({ OTEL_SERVICE_NAME: "engage" }).telemetry, undefined);
    assert.deepEqual(
      telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: "true" }),
      [undefined, undefined],
    );
    assert.deepEqual(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), [protobuf, protobuf]);
    assert.deepEqual(telemetryOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }), [
      protobuf,
      undefined,
    ]);
    assert.deepEqual(
      telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: "none" }),
      [undefined, protobuf],
    );
    const wrong: [string, string][] = [
      ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
      ["OTEL_TRACES_EXPORTER", "zipkin"],
      ["OTEL_METRIC_EXPORT_INTERVAL", "1m"],
      ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318"],
    ];
    for (const [name, value] of wrong) {
      const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, [name]: value };
      assert.throws(() => readConfig(settings), new RegExp(name));
    }
  });
});
