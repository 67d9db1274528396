/* What a server sends to an OpenTelemetry collector: sampling, refusals, the libraries and the form of it. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { freshDatabase } from "../../core/database/fresh-database.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, post, startChild } from "../child-server.ts";
import { type OtlpReceiver, startReceiver } from "../otlp-receiver.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

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

const track = ({ url, key }: ChildServer, body: object, headers: Record<string, string> = {}) =>
  post(`${url}/users/track`, key, body, headers);

const event = (id: string) => ({ external_id: id, name: "came", time: new Date().toISOString() });

describe("traces", () => {
  test("a sampler decides which requests are traced, and health checks are not", async () => {
    const own = await startReceiver();
    const server = await startServer(
      sentTo(own, { OTEL_TRACES_SAMPLER: "parentbased_always_off" }),
    );
    const sampled = { traceparent: `00-${TRACE}-${CALLER}-01` };
    await fetch(`${server.url}/health/ready`, { headers: sampled });
    await track(server, { events: [event("not-sampled")] });
    await track(server, { events: [event("not-sampled")] }, { traceparent: "not a traceparent" });
    await track(server, { events: [event("sampled")] }, sampled);
    await server.end("SIGTERM");
    const requests = own.spans.filter(({ kind }) => kind === 2);
    assert.deepEqual(
      requests.map(({ name, traceId }) => [name, traceId]),
      [["POST /users/track", TRACE]],
    );
    assert.ok(own.spans.every(({ traceId }) => traceId === TRACE));
  });
});

describe("a collector that fails", () => {
  test("the log says once that a collector does not accept telemetry, without its address", async () => {
    const refusing = await startReceiver((response) => void response.writeHead(400).end("no"));
    const server = await startServer(sentTo(refusing, { LOG_LEVEL: "warn" }));
    for (let request = 0; request < 3; request++) {
      const { length } = refusing.bodies;
      const { status } = await track(server, { events: [event("ada")] });
      assert.equal(status, 201);
      await refusing.until(() => refusing.bodies.length >= length + 2);
    }
    const { stderr } = await server.end("SIGTERM");
    const lines = stderr.split("\n").filter((line) => line.includes("telemetry is not accepted"));
    assert.deepEqual(lines.map((line) => JSON.parse(line).signal).sort(), ["metrics", "traces"]);
    assert.ok(!stderr.includes(refusing.endpoint));
  });
});

describe("the libraries of OpenTelemetry", () => {
  const bundle = join(packageRoot(), "dist", "bundle");
  // Beside the interface, which the Prometheus client has as well.
  const libraries = readdirSync(bundle)
    .filter((name) => name.endsWith(".js"))
    .filter((name) => readFileSync(join(bundle, name), "utf8").includes("@opentelemetry/sdk-trace"))
    .map((name) => pathToFileURL(join(bundle, name)).href);

  /** Those that a process loaded, by its coverage. */
  async function loadedBy(settings: Record<string, string>): Promise<string[]> {
    const folder = await temporaryFolder();
    const server = await startServer({ ...settings, NODE_V8_COVERAGE: folder });
    await track(server, { events: [event("ada")] });
    await server.end("SIGTERM");
    const reports = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    const urls = reports.flatMap((text) => JSON.parse(text).result.map(({ url }: any) => url));
    assert.ok(urls.includes(pathToFileURL(join(bundle, "main.js")).href));
    return urls.filter((url) => libraries.includes(url));
  }

  test("no library of OpenTelemetry is loaded unless a collector is set", async () => {
    assert.deepEqual(await loadedBy({ OTEL_SERVICE_NAME: "engage" }), []);
  });

  test("a collector gets traces and metrics as protobuf by default", async () => {
    const own = await startReceiver();
    const loaded = await loadedBy(sentTo(own, { OTEL_EXPORTER_OTLP_PROTOCOL: "" }));
    assert.ok(loaded.length > 0);
    const sent = Buffer.concat(own.bodies).toString("latin1");
    // Field 5 of a span is its name, preceded by its length; field 1 of a metric likewise.
    assert.ok(sent.includes("\x2a\x11POST /users/track"));
    assert.ok(sent.includes("\x0a\x19rapport_track_items_total"));
  });
});
