/* Metrics of the server, and what deploy/ makes of them: alert rules and a dashboard. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { createMetrics } from "../../src/core/base/observe/metrics.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { freePort } from "../free-port.ts";
import { ENGINE, startOwnServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { startChild } from "./child-server.ts";

const read = (path: string): string => readFileSync(join(packageRoot(), path), "utf8");
const RULES = "deploy/prometheus/rapport.rules.yml";
const DASHBOARD = "deploy/grafana/rapport.json";
const METRICS_PAGE = "docs/operations/metrics.md";

/** The value of a series, by the start of its line. */
function seriesValue(text: string, series: string): number {
  const line = text.split("\n").find((each) => each.startsWith(series));
  return Number(line?.slice(line.lastIndexOf(" ") + 1) ?? Number.NaN);
}

const names = (await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name);

/** The metrics that an expression names, without the suffixes of a histogram. */
const namedIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:rapport|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => {
    const base = name.replace(/_(?:bucket|sum|count)$/, "");
    return names.includes(name) ? name : base;
  });

describe("the metrics", () => {
  test("metrics on a loopback address are refused to a page whose name was resolved to it", async () => {
    const metricsPort = await freePort();
    await startOwnServer({ metricsPort });
    const statusFor = (host: string) =>
      new Promise((resolve, reject) => {
        const url = `http://127.0.0.1:${metricsPort}/metrics`;
        request(url, { headers: { host } }, ({ statusCode }) => resolve(statusCode))
          .on("error", reject)
          .end();
      });
    assert.equal(await statusFor(`rebound.evil.example:${metricsPort}`), 403);
    for (const host of ["localhost", `127.0.0.1:${metricsPort}`, "[::1]:9464"]) {
      assert.equal(await statusFor(host), 200, host);
    }
  });

  test("the metrics count every object of a track request by outcome and code", async () => {
    const metricsPort = await freePort();
    const server = await startOwnServer({ metricsPort });
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { external_id: "ada", score: 1 },
        { external_id: "ada", dob: "soon" },
      ],
      events: [
        { email: "nobody@example.com", name: "a", time: "2026-01-01", _update_existing_only: true },
      ],
    });
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const items = (outcome: string) =>
      seriesValue(text, `rapport_track_items_total{outcome="${outcome}"}`);
    assert.deepEqual([items("applied"), items("refused"), items("skipped")], [1, 1, 1]);
    assert.equal(seriesValue(text, 'rapport_track_rejections_total{code="USER_NOT_FOUND"}'), 1);
    assert.ok(
      seriesValue(text, 'rapport_database_transactions_total{use="intake",end="committed"}') > 0,
    );
    assert.ok(
      seriesValue(text, 'rapport_database_statement_duration_seconds_count{use="intake"}') > 0,
    );
    assert.equal(seriesValue(text, "rapport_write_batch_items_count"), 1);
  });

  test("several server processes answer one metrics port with their sums", {
    skip: ENGINE === "postgres" ? false : "the embedded engine serves one process",
  }, async () => {
    const metricsPort = await freePort();
    const child = await startChild({
      DATABASE_URL: (await freshDatabase()) ?? "",
      DATA_DIR: await temporaryFolder(),
      METRICS_PORT: String(metricsPort),
      WEB_CONCURRENCY: "2",
    });
    const count = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const series = text
        .split("\n")
        .filter((line) => /duration_seconds_count\{.*\/health\/live/.test(line));
      return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    };
    // Each on a separate connection, so that both processes get some.
    for (let request = 0; request < 20; request++) {
      await fetch(`${child.url}/health/live`, { headers: { connection: "close" } });
    }
    assert.equal(await count(), 20);
    await child.end("SIGTERM");
  });

  test("the page of the metrics describes each of them", () => {
    const page = read(METRICS_PAGE);
    const own = names.filter((name) => name.startsWith("rapport_"));
    assert.ok(own.length > 15);
    assert.deepEqual(
      own.filter((name) => !page.includes(`\`${name}\``)),
      [],
    );
    assert.deepEqual(
      [...new Set(namedIn(page))].filter((name) => !names.includes(name)),
      [],
    );
  });
});

describe("deploy/", () => {
  const rules = parse(read(RULES)).groups.flatMap((group: any) => group.rules);

  test("the alert rules and the dashboard name only metrics that the server has", () => {
    const expressions = [
      ...rules.map((rule: any) => rule.expr),
      ...JSON.parse(read(DASHBOARD)).panels.flatMap((panel: any) =>
        panel.targets.map((target: any) => target.expr),
      ),
    ];
    assert.ok(expressions.length > 30);
    assert.deepEqual(
      [...new Set(namedIn(expressions.join("\n")))].filter((name) => !names.includes(name)),
      [],
    );
  });

  test("every alert has an entry in the troubleshooting guide", () => {
    const page = read("docs/operations/troubleshoot.md");
    for (const { alert } of rules) assert.match(page, new RegExp(`^## ${alert}$`, "m"), alert);
  });

  test("promtool accepts the alert rules", {
    skip: spawnSync("promtool", ["--version"]).error ? "promtool is not installed" : false,
  }, () => {
    const printed = execFileSync("promtool", ["check", "rules", join(packageRoot(), RULES)]);
    assert.match(String(printed), /SUCCESS/);
  });
});
