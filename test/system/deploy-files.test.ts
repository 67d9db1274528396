/*
 * action.yml, Dockerfile and compose.yaml, as far as they can be carried out without a container engine: the steps of the
 * action as a runner carries them out, the health check of the image against a server, and what compose.yaml asks for.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freePort } from "../free-port.ts";
import { startServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";

const run = promisify(execFile);
const ROOT = packageRoot();
const textOf = (name: string) => readFileSync(join(ROOT, name), "utf8");

interface Step {
  readonly id?: string;
  readonly run: string;
  readonly shell: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly "working-directory"?: string;
}

interface Action {
  readonly inputs: Readonly<Record<string, { default: string }>>;
  readonly outputs: Readonly<Record<string, { value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** The outputs of a step as the runner reads them: `NAME=value`, or `NAME<<END`, lines, `END`. */
function outputsIn(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  const lines = text.split("\n");
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, name = "", end] = /^([\w-]+)<<(.+)$/.exec(line) ?? [];
    if (end !== undefined)
      found[name] = lines
        .splice(0, lines.indexOf(end) + 1)
        .slice(0, -1)
        .join("\n");
    else if (line !== "") found[line.split("=", 1)[0] ?? ""] = line.slice(line.indexOf("=") + 1);
  }
  return found;
}

/**
 * Carries out the steps as the runner does. @returns the outputs of the action, and the printed
 * text.
 */
async function runAction(inputs: Readonly<Record<string, string>>, workspace: string) {
  const action = parse(textOf("action.yml")) as Action;
  assert.equal(action.runs.using, "composite");
  const outputs: Record<string, Record<string, string>> = {};
  const values = (text: string): string =>
    text.replaceAll(/\$\{\{ *([\w.-]+) *\}\}/g, (_whole, path: string) => {
      if (path === "github.action_path") return ROOT;
      const [kind, name = "", , output = ""] = path.split(".");
      if (kind === "inputs") return inputs[name] ?? action.inputs[name]?.default ?? "";
      assert.equal(kind, "steps", path);
      return outputs[name]?.[output] ?? "";
    });
  let printed = "";
  for (const step of action.runs.steps) {
    const file = join(workspace, `output-of-${step.id}`);
    await writeFile(file, "");
    const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, values(value)]);
    const child = spawn(step.shell, ["-e", "-o", "pipefail", "-c", values(step.run)], {
      cwd: values(step["working-directory"] ?? workspace),
      env: {
        PATH: process.env.PATH,
        RUNNER_TEMP: workspace,
        GITHUB_WORKSPACE: workspace,
        GITHUB_OUTPUT: file,
        ...Object.fromEntries(env),
      },
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        printed += chunk;
      });
    }
    const [code] = await once(child, "close");
    if (code !== 0) return { code, printed, outputs: {} as Record<string, string> };
    outputs[step.id ?? ""] = outputsIn(await readFile(file, "utf8"));
  }
  const named = Object.entries(action.outputs).map(([name, { value }]) => [name, values(value)]);
  return { code: 0, printed, outputs: Object.fromEntries(named) as Record<string, string> };
}

const EVENT = { external_id: "ada", name: "signed_up", time: "2026-01-01T12:00:00Z" };

describe("compose.yaml", () => {
  test("the role that Rapport connects with is no superuser of PostgreSQL", () => {
    const { services } = parse(textOf("compose.yaml"));
    const { environment, volumes } = services.postgres;
    assert.notEqual(environment.POSTGRES_USER, "rapport");
    const script = volumes.find((each: string) => each.includes("docker-entrypoint-initdb.d"));
    assert.match(textOf(script.split(":")[0]), /^create role rapport login nosuperuser /m);
  });
});

describe("the units of deploy/", () => {
  const units = ["rapport.service", "rapport-backup.service"];

  test("the units see no other processes, gain no privileges, and make only the system calls of a service", () => {
    for (const unit of units) {
      const lines = textOf(`deploy/${unit}`).split("\n");
      for (const line of [
        "CapabilityBoundingSet=",
        "LockPersonality=true",
        "NoNewPrivileges=true",
        "PrivateDevices=true",
        "PrivateTmp=true",
        "ProtectClock=true",
        "ProtectControlGroups=true",
        "ProtectHome=true",
        "ProtectHostname=true",
        "ProtectKernelLogs=true",
        "ProtectKernelModules=true",
        "ProtectKernelTunables=true",
        "ProtectProc=invisible",
        "ProtectSystem=strict",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
        "RestrictNamespaces=true",
        "RestrictSUIDSGID=true",
        "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service",
        "UMask=0077",
      ]) {
        assert.ok(lines.includes(line), `${unit}: ${line}`);
      }
    }
  });

  test("systemd finds no fault in the units, and rates their exposure below 2 of 10", async (context) => {
    const analyze = (...args: string[]) =>
      run("systemd-analyze", args, {
        cwd: join(ROOT, "deploy"),
        env: { ...process.env, SYSTEMD_COLORS: "0" },
      });
    const version = await analyze("--version").catch(() => undefined);
    // `--offline` came with systemd 250.
    if (Number(/^systemd (\d+)/.exec(version?.stdout ?? "")?.[1] ?? 0) < 250) {
      return context.skip("needs systemd-analyze of systemd 250 or newer");
    }
    for (const unit of units) {
      const { stderr } = await analyze("verify", "--man=no", unit);
      assert.doesNotMatch(stderr, new RegExp(`${unit}:\\d+`), stderr);
      // Fails if the exposure is above the threshold, in tenths.
      await analyze("security", "--offline=true", "--threshold=20", "--no-pager", unit);
    }
  });
});

describe("the GitHub Action", {
  skip: process.platform === "linux" ? false : "needs /proc",
}, () => {
  test("the GitHub action starts a server that outlives its step, and masks its key and token in the log", async () => {
    const port = String(await freePort());
    const inputs = { port, settings: "LOG_LEVEL=debug\n\nDATABASE_TIMEOUT=20\n" };
    const { code, outputs, printed } = await runAction(inputs, await temporaryFolder());
    assert.equal(code, 0, printed);
    after(() => process.kill(Number(outputs.pid), "SIGTERM"));
    assert.deepEqual([outputs.workspace, outputs.url], ["test", `http://127.0.0.1:${port}`]);
    const { status } = await fetch(`${outputs.url}/users/track`, {
      method: "POST",
      headers: { authorization: `Bearer ${outputs.key}`, "content-type": "application/json" },
      body: JSON.stringify({ events: [EVENT] }),
    });
    assert.equal(status, 201);
    for (const secret of [outputs.key, outputs["admin-token"]]) {
      assert.ok(printed.includes(`::add-mask::${secret}\n`));
    }
    const reset = await fetch(`${outputs.url}/admin/v1/workspaces/test/reset`, {
      method: "POST",
      headers: { authorization: `Bearer ${outputs["admin-token"]}` },
    });
    assert.equal(reset.status, 200);
    const log = await readFile(String(outputs.log), "utf8");
    assert.match(log, /Rapport is ready at/);
    assert.match(log, /"level":"debug"|"msg":"request"/);
  });

  test("fails with the server's own message for a manifest that is not valid", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "rapport.yaml"), "workspaces: 5");
    const { code, printed } = await runAction({ manifest: "rapport.yaml" }, folder);
    assert.equal(code, 1);
    assert.match(printed, /'workspaces' must be an array/);
    assert.match(printed, /^::error title=Rapport did not start::/m);
  });
});

describe("the Dockerfile", () => {
  const lines = textOf("Dockerfile").replaceAll("\\\n", " ").split("\n");
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));

  test("its health check succeeds for a ready server and fails for one that does not respond", async () => {
    const check = last.find((line) => line.startsWith("HEALTHCHECK"))?.replace(/^.*?CMD /, "");
    const [, ...args] = JSON.parse(check ?? "") as string[];
    const statusAt = (port: string) =>
      run(process.execPath, args, { env: { PORT: port } }).then(
        () => 0,
        (error: { code: number }) => error.code,
      );
    const { url } = await startServer();
    assert.equal(await statusAt(new URL(url).port), 0);
    assert.equal(await statusAt(String(await freePort())), 1);
    const failing = createServer((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n"));
    }).listen(0, "127.0.0.1");
    await once(failing, "listening");
    assert.equal(await statusAt(String((failing.address() as { port: number }).port)), 1);
    failing.close();
  });

  test("its last stage runs without root and copies the contents of the package", () => {
    assert.ok(last.includes("USER node"));
    const { files } = JSON.parse(textOf("package.json")) as { files: string[] };
    // The image compiles nothing, so it needs no types.
    const needed = files.filter((each) => !/\.d\.c?ts$/.test(each));
    const parts = needed.map((each) => /^(?:dist\/)?[\w.-]+?(?=-\*|\/|$)/.exec(each)?.[0] ?? each);
    const copied = last.filter((line) => line.startsWith("COPY ")).join("\n");
    for (const part of new Set(parts)) assert.ok(copied.includes(`/src/${part}`), part);
  });

  test("everything that the build copies or compiles is part of its context", () => {
    const ignored = textOf(".dockerignore").split("\n").filter(Boolean);
    for (const needed of [
      "src",
      "client",
      "migrations",
      "docs",
      "openapi.json",
      "openapi-admin.json",
      ".npmrc",
    ]) {
      assert.ok(!ignored.includes(needed), needed);
    }
    for (const secret of [".env", "data"]) assert.ok(ignored.includes(secret), secret);
  });
});

describe("compose.yaml", () => {
  const { services } = parse(textOf("compose.yaml")) as {
    services: Record<string, Record<string, any>>;
  };

  test("the server waits for a healthy database, has no rights of root and listens on this machine alone", () => {
    const { rapport, postgres } = services;
    assert.deepEqual(rapport?.depends_on, { postgres: { condition: "service_healthy" } });
    assert.ok(postgres?.healthcheck.test.includes("pg_isready"));
    assert.deepEqual(rapport?.cap_drop, ["ALL"]);
    assert.equal(rapport?.read_only, true);
    assert.ok(rapport?.ports.every((port: string) => port.startsWith("127.0.0.1:")));
  });

  test("no secret has a default", () => {
    const variables = [...textOf("compose.yaml").matchAll(/\$\{(\w+)(.*?)\}/g)];
    assert.ok(variables.length >= 5);
    for (const [, name, rest] of variables) {
      if (!name?.endsWith("_IMAGE")) assert.match(rest ?? "", /^:\?/, name);
    }
  });

  test("every image can be pinned to a digest by a variable, and no container gains privileges", () => {
    const dockerfile = textOf("Dockerfile");
    assert.deepEqual(
      [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
      Array(2).fill(`\${NODE_IMAGE}`),
    );
    const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
    assert.equal(services.rapport?.build.args.NODE_IMAGE, `\${NODE_IMAGE:-${image}}`);
    assert.match(services.postgres?.image, /^\$\{POSTGRES_IMAGE:-postgres:\d+-\w+\}$/);
    for (const [name, { security_opt }] of Object.entries(services)) {
      assert.deepEqual(security_opt, ["no-new-privileges:true"], name);
    }
  });
});
