/* The server's log: its two forms, sampling, and the data that neither it nor the traces contain. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { createLog, describeError } from "../../src/core/base/observe/log.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { pathsOf } from "../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";
import type { Config } from "../../src/server/config.ts";
import { startOwnServer } from "../harness.ts";
import { pathOf, SCIM_TOKEN, sampleRequests, sampleWorkspace } from "../sample-requests.ts";
import { sized } from "../sizes.ts";
import { startReceiver } from "./otlp-receiver.ts";

const logging = async (settings: Partial<Config>) => {
  const lines: string[] = [];
  const server = await startOwnServer(settings, { write: (line) => void lines.push(line) });
  const entries = () => lines.map((line) => JSON.parse(line));
  return { server, lines, entries };
};

/** Of users and secrets in the sample requests. */
const PERSONAL = /example\.com|\+1415|\b(ada|eve|Lovelace)\b/i;

/** Runs something with variables that libraries read from the process. */
async function withVariables<Result>(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

test("neither the log nor traces and metrics ever contain a user's data or a secret, for any endpoint and outcome", async () => {
  const collector = await startReceiver();
  const telemetry = { traces: "http/json", metrics: "http/json", metricsEveryMs: 60_000 } as const;
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_BSP_MAX_QUEUE_SIZE: "100000",
  };
  const { server, lines, entries } = await withVariables(variables, () =>
    logging({ logLevel: "trace", telemetry }),
  );
  const workspace = await server.workspace(sampleWorkspace());
  const samples = await sampleRequests(server, workspace);
  const { key } = workspace;
  const keys = {
    key,
    scim: SCIM_TOKEN,
    administrator: server.adminToken,
    session: null,
    anybody: key,
  };
  const all = ENDPOINTS.map(({ contract }) => contract);
  const refused = new Set(all.filter((_, place) => place % sized(16, 1) === 0));
  for (const contract of all) {
    const [declaredPath = ""] = pathsOf(contract);
    const sample = (await samples[`${contract.method} ${declaredPath}`]?.()) ?? {};
    const path = pathOf(declaredPath, workspace.name, sample);
    const options = {
      key: keys[contract.access.by],
      headers: sample.headers ?? {},
      ...(sample.raw !== undefined && { raw: sample.raw }),
    };
    await server.send(contract.method, path, sample.body, options);
    // The same without the right to it (in the night for each endpoint), and with a faulty body.
    if (refused.has(contract)) {
      await server.send(contract.method, path, sample.body, { ...options, key: `${key}-wrong` });
    }
    const faulty = contract.method === "GET" ? undefined : { users: ["ada@example.com"] };
    await server.send(contract.method, path, faulty, { key: options.key });
  }
  await server.stop();
  assert.ok(entries().length > 2 * all.length + refused.size);
  const tells = (text: string) =>
    PERSONAL.test(text) || [key, SCIM_TOKEN, server.adminToken].some((it) => text.includes(it));
  assert.deepEqual(lines.filter(tells), []);
  const requests = collector.spans.filter(({ kind }) => kind === 2);
  assert.ok(requests.length > 2 * all.length, String(requests.length));
  const told = [...collector.spans, ...collector.metrics.values()].map((it) => JSON.stringify(it));
  assert.deepEqual(told.filter(tells), []);
});

test("the log has one JSON line for each request, with the level's name and an ISO 8601 time", async () => {
  const { server, entries } = await logging({ logLevel: "info" });
  const { headers } = await server.send("GET", "/health/live", undefined, { key: null });
  const line = entries().find((entry) => entry.request_id === headers.get("x-request-id"));
  assert.equal(line.level, "info");
  assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual([line.route, line.status], ["/health/live", 200]);
});

test("LOG_SAMPLE leaves out successful requests and keeps the others", async () => {
  const { server, entries } = await logging({ logLevel: "info", logSample: 0 });
  await server.send("GET", "/health/live", undefined, { key: null });
  await server.send("GET", "/no-such-path", undefined, { key: null });
  const statuses = entries().flatMap(({ msg, status }) => (msg === "request" ? [status] : []));
  assert.deepEqual(statuses, [404]);
});

describe("errors in the log", () => {
  const described = (message: string, code?: string) =>
    describeError(Object.assign(new Error(message), { code }));

  test("a logged error has its message, without any user's data that the message quotes", () => {
    const whole = [
      ['relation "profiles" does not exist', "42P01"],
      ["connect ECONNREFUSED 127.0.0.1:5432", "ECONNREFUSED"],
      ["Cannot read properties of undefined", undefined],
    ] as const;
    for (const [message, code] of whole) assert.equal(described(message, code).message, message);
    const quoting = [
      [`invalid input syntax for type json: "ada"`, "22P02"],
      [`Unexpected token 'a', "ada is here" is not valid JSON`, undefined],
      [`Unexpected token 'a', "ada is`, undefined],
      ["no mail to ada@example.com or +1 (415) 555-0100", "42P01"],
    ] as const;
    for (const [message, code] of quoting) {
      const { message: logged } = described(message, code);
      assert.match(logged, /…/);
      assert.doesNotMatch(logged, /ada|415/);
    }
    assert.equal(described("very ".repeat(1_000)).message.length, 500);
  });

  test("frames in a bundled file name the line of the source file", () => {
    const bundle = join(packageRoot(), "dist", "bundle", "main.js");
    const row = readFileSync(bundle, "utf8")
      .split("\n")
      .findIndex((line) => /process\.exit\(1\)/.test(line));
    const error = new Error("broken");
    error.stack = `Error: broken\n    at run (file://${bundle}:${row + 1}:3)\n    at other (node:fs:1:1)`;
    const [first, second] = describeError(error).stack ?? [];
    assert.match(first ?? "", /^ +at run \(src\/main\.ts:\d+:\d+\)$/);
    assert.equal(second, "    at other (node:fs:1:1)");
  });
});

describe("LOG_FORMAT", () => {
  const written = async (logFormat: Config["logFormat"]) => {
    const stream = new PassThrough({ encoding: "utf8" });
    const log = await createLog({ logLevel: "info", logFormat }, stream);
    log.warn({ code: "X1" }, "not noted");
    const [text] = await once(stream, "data");
    return text as string;
  };

  test("pretty writes a short line that people can read", async () => {
    assert.match(await written("pretty"), /^\[\d\d:\d\d:\d\d\] WARN: not noted \{"code":"X1"\}\n$/);
  });

  test("json and auto write JSON if there is no terminal", async () => {
    for (const format of ["json", "auto"] as const) {
      const { level, msg, code } = JSON.parse(await written(format));
      assert.deepEqual([level, msg, code], ["warn", "not noted", "X1"]);
    }
  });
});
