/*
 * The step of action.yml that starts Rapport: in the background, in memory, with a manifest or a workspace `test`. It
 * waits until the server is ready, makes a key, and writes both to the outputs of the step. The runner ends the
 * server with the job.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const print = (text) => process.stdout.write(`${text}\n`);

const READY_WITHIN_MS = 60_000;

const DEFAULT_MANIFEST = {
  company: { name: "Test" },
  workspaces: [{ name: "test", allow_reset: true }],
};

const { INPUT_MANIFEST = "", INPUT_PORT = "0", INPUT_SETTINGS = "" } = process.env;

const folder = mkdtempSync(join(process.env.RUNNER_TEMP ?? tmpdir(), "rapport-"));
const log = join(folder, "rapport.log");
const adminToken = randomBytes(18).toString("base64url");

const port = INPUT_PORT === "0" ? await freePort() : Number(INPUT_PORT);
const url = `http://127.0.0.1:${port}`;

await start().catch((error) => {
  print(`::error title=Rapport did not start::${error.message}`);
  process.exitCode = 1;
});

async function start() {
  print(`::add-mask::${adminToken}`);
  const server = serve();
  server.on("exit", (code) => {
    print(readFileSync(log, "utf8"));
    print(`::error title=Rapport did not start::It ended with ${code}. Its log is above.`);
    process.exit(1);
  });
  await untilReady();
  const { workspaces } = await call("GET", "/admin/v1/workspaces");
  const [workspace] = workspaces;
  if (!workspace) throw new Error("The manifest declares no workspace.");
  const keys = `/admin/v1/workspaces/${encodeURIComponent(workspace.name)}/api-keys`;
  const name = `action-${randomBytes(6).toString("hex")}`;
  const { key } = await call("POST", keys, { name, permissions: ["all"] });
  print(`::add-mask::${key}`);
  output({ url, key, workspace: workspace.name, "admin-token": adminToken, log, pid: server.pid });
  print(`Rapport is ready at ${url}, workspace ${workspace.name}. Its log: ${log}`);
  server.removeAllListeners("exit");
  server.unref();
}

function serve() {
  const main = fileURLToPath(new URL("../../dist/bundle/main.js", import.meta.url));
  const out = openSync(log, "a");
  return spawn(process.execPath, [main, "serve"], {
    detached: true,
    stdio: ["ignore", out, out],
    env: {
      ...process.env,
      HOST: "127.0.0.1",
      PORT: String(port),
      DATA_DIR: "memory:",
      ADMIN_TOKEN: adminToken,
      SECRET_KEY: randomBytes(18).toString("base64url"),
      WEB_CONCURRENCY: "1",
      MANIFEST: manifest(),
      ...settings(),
    },
  });
}

function manifest() {
  if (INPUT_MANIFEST) return resolve(process.env.GITHUB_WORKSPACE ?? "", INPUT_MANIFEST);
  const path = join(folder, "rapport.json");
  writeFileSync(path, JSON.stringify(DEFAULT_MANIFEST));
  return path;
}

/** `NAME=value` lines. */
function settings() {
  const lines = INPUT_SETTINGS.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^\s*(\w+)=(.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`'${line}' in settings is not NAME=value.`);
      return [name, value];
    }),
  );
}

async function untilReady() {
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; ) {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  print(readFileSync(log, "utf8"));
  throw new Error(`It was not ready within ${READY_WITHIN_MS / 1_000} seconds. Its log is above.`);
}

async function call(method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.message}`);
  return answer;
}

/**
 * Uses the form with a delimiter that no value can guess: a name with a line break would begin
 * another output.
 */
function output(values) {
  const end = `end-${randomBytes(16).toString("hex")}`;
  const lines = Object.entries(values).map(
    ([name, value]) => `${name}<<${end}\n${value}\n${end}\n`,
  );
  appendFileSync(process.env.GITHUB_OUTPUT ?? "/dev/stdout", lines.join(""));
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = server.address();
      server.close(() => done(free));
    });
  });
}
