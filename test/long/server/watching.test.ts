/* Observing the server: logs and metrics, never with any data of a person. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, test } from "node:test";
import { AggregatorRegistry } from "prom-client";
import { createMetrics } from "../../../src/core/base/observe/metrics.ts";
import type { Config } from "../../../src/server/config.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";

const PERSONAL = {
  external_id: "id-of-ada",
  email: "ada@example.com",
  phone: "+14155552671",
  first_name: "Augusta",
  home_city: "Marylebone",
};
const SECRETS = [...Object.values(PERSONAL), "the-admin-token", "the-api-key", "query-value"];

/** Starts a server that logs into a list, and sends it data that must not be in a log. */
async function loggedServer(logLevel: Config["logLevel"]) {
  const lines: string[] = [];
  const metricsPort = await freePort();
  const settings = { logLevel, adminToken: "the-admin-token", metricsPort };
  const { stop, url } = await startOwnServer(settings, { write: (line) => void lines.push(line) });
  const send = (path: string, token: string, body: unknown) =>
    fetch(url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "x-request-id": "request-1",
        "idempotency-key": `${randomUUID()} of ${PERSONAL.email}`,
      },
      body: JSON.stringify(body),
    });
  const manifest = {
    company: { name: "Test" },
    workspaces: [
      { name: "watched", api_keys: [{ name: "a", key: "the-api-key", permissions: ["all"] }] },
    ],
  };
  await send("/admin/v1/apply", "the-admin-token", manifest);
  const track = "/users/track?note=query-value";
  await send(track, "the-api-key", { attributes: [PERSONAL] });
  await send(track, "the-api-key", { attributes: [{ ...PERSONAL, dob: "ada@example.com" }] });
  await send(`/users/${PERSONAL.external_id}`, "the-api-key", {});
  await send("/users/export/ids", "the-api-key", { external_ids: [PERSONAL.external_id] });
  return { stop, lines, url, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}

describe("the log", () => {
  test("the log has one JSON line per request, without personal data or secrets", async () => {
    const { stop, lines } = await loggedServer("trace");
    await stop();
    const requests = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === "request");
    assert.deepEqual(
      requests.map(({ method, route, status, workspace }) => [method, route, status, workspace]),
      [
        ["POST", "/admin/v1/apply", 200, undefined],
        ["POST", "/users/track", 201, "watched"],
        ["POST", "/users/track", 400, "watched"],
        ["POST", "none", 404, undefined],
        ["POST", "/users/export/ids", 201, "watched"],
      ],
    );
    for (const { caller_request_id, duration_ms } of requests) {
      assert.equal(caller_request_id, "request-1");
      assert.equal(typeof duration_ms, "number");
    }
    assert.equal(new Set(requests.map(({ request_id }) => request_id)).size, requests.length);
    const whole = lines.join("");
    for (const secret of SECRETS) assert.ok(!whole.includes(secret), secret);
  });

  test("the log names the route of a request and never its path, in which callers may name a user", async () => {
    const { stop, lines, url } = await loggedServer("trace");
    const headers = { authorization: "Bearer the-api-key" };
    const { email, external_id: id } = PERSONAL;
    for (const path of [
      `/preference_center/v1/none/url/${encodeURIComponent(email)}`,
      `/catalogs/${id}/items/${id}`,
      `/users/track/${id}`,
      `/users/${id}/%ff`,
      `/dashboard/w/watched/users/${id}?query=${encodeURIComponent(email)}`,
      `/preferences/${id}`,
    ]) {
      await fetch(url + path, { headers });
    }
    await stop();
    const logged = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === "request");
    assert.ok(logged.length >= 10, String(logged.length));
    assert.ok(logged.some(({ route }) => /^\/preference_center\/v1\/:\w+\/url\/:\w+$/.test(route)));
    for (const secret of [...SECRETS, encodeURIComponent(email)]) {
      assert.ok(!lines.join("").includes(secret), secret);
    }
  });

  test("LOG_LEVEL warn and silent suppress the log of requests", async () => {
    for (const level of ["warn", "silent"] as const) {
      const { stop, lines } = await loggedServer(level);
      await stop();
      assert.deepEqual(lines, []);
    }
  });
});

describe("GET /metrics", () => {
  test("metrics are served in the Prometheus format on a separate port, without personal data", async () => {
    const { url, metricsUrl } = await loggedServer("silent");
    const response = await fetch(metricsUrl);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=/);
    const text = await response.text();
    assert.match(
      text,
      /^rapport_http_request_duration_seconds_count\{.*route="\/users\/track",status="201".*\} 1$/m,
    );
    assert.match(text, /^rapport_written_items_total 1$/m);
    for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
    assert.equal((await fetch(`${url}/metrics`)).status, 404);
  });

  test("of several processes the metric of the database is that of the one which has lost it", async () => {
    const processes = [createMetrics(), createMetrics(), createMetrics()];
    processes[1]?.databaseUp(false);
    const all = await Promise.all(processes.map(({ registry }) => registry.getMetricsAsJSON()));
    const together = (some: typeof all) => AggregatorRegistry.aggregate(some).metrics();
    assert.match(await together(all), /^rapport_database_up 0$/m);
    processes[1]?.databaseUp(true);
    const back = await Promise.all(processes.map(({ registry }) => registry.getMetricsAsJSON()));
    assert.match(await together(back), /^rapport_database_up 1$/m);
  });

  test("of several processes the time of an integration's last successful run is the latest", async () => {
    const processes = [createMetrics(), createMetrics()];
    const run = { integration: "crm", status: "success", synced: 1, failed: 0 };
    for (const [place, { sync }] of processes.entries()) {
      sync({ ...run, at: new Date((1_000 + place) * 1_000) });
    }
    const all = await Promise.all(processes.map(({ registry }) => registry.getMetricsAsJSON()));
    const text = await AggregatorRegistry.aggregate(all).metrics();
    assert.match(text, /_last_success_timestamp_seconds\{integration="crm"\} 1001$/m);
  });

  test("on a loopback address, metrics are refused to requests that name another host", async () => {
    const { metricsUrl } = await loggedServer("silent");
    const { port } = new URL(metricsUrl);
    const statusFor = async (host: string) => {
      const sent = request(metricsUrl, { headers: { host } }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    for (const host of ["127.0.0.1", `127.0.0.1:${port}`, "localhost:1", "[::1]:9090"]) {
      assert.equal(await statusFor(host), 200, host);
    }
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example"]) {
      assert.equal(await statusFor(host), 403, host);
    }
  });
});
