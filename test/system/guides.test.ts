/*
 * The README and the guides, followed literally: one server, one folder, and every shell block of
 * every page in order, as a newcomer would paste it. A YAML block that the page asks to save is
 * saved; a block after a command is its expected output: JSON, or text with `…` for the parts that
 * differ from run to run.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { freePort } from "../free-port.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { BRIEFLY, KEPT_CODE } from "./child-server.ts";
import { skipWithoutCurl } from "./curl.ts";

/** In the order in which they depend on each other. */
const PAGES = [
  "README.md",
  "docs/users.md",
  "docs/export.md",
  "docs/segments.md",
  "docs/webhooks.md",
  "docs/mail.md",
  "docs/changes.md",
  "docs/import.md",
  "docs/backup.md",
  "docs/keys.md",
  "docs/secrets.md",
  "docs/audit.md",
  "docs/preference-centers.md",
  "docs/warehouse-sync.md",
  "docs/manifest.md",
  "docs/translations.md",
  "docs/scim.md",
  "docs/dashboard.md",
  "docs/colleagues.md",
  "docs/ci.md",
];

/** Their commands in ```bash need a separate machine: test/debian/try-out.sh runs them. */
const ON_A_MACHINE = ["backup.md", "configure.md", "install.md", "metrics.md"];

/** On a cluster each node has a separate backup, and the command says so. */
const NOT_ON_CITUS = ["docs/backup.md"];

/** Pages that do not guide anyone through commands. */
const NO_GUIDES = [
  "compatibility.md",
  "conformance.md",
  "engines.md",
  "errors.md",
  "performance.md",
  "personal-data.md",
  "releasing.md",
  "reliability.md",
  "scaling.md",
  "security-bounds.md",
  "settings.md",
];

interface Block {
  readonly language: string;
  readonly text: string;
  /** The prose directly before it. */
  readonly before: string;
  /** Whether it comes directly after a block of commands. */
  readonly isOutput: boolean;
}

const ROOT = packageRoot();

const isCluster = (process.env.TEST_CITUS_WORKERS ?? "") !== "";

/** Commands of a guide take seconds; one that hangs fails its page. */
const COMMAND_TIMEOUT_MS = 60_000;
/**
 * The behaviour of npx in a clone: it runs the package's own executable.
 * test/system/night/packages.test.ts tries npx itself.
 */
const NPX = 'npx() { [ "$1" = rapport-server ] && shift && node dist/bundle/main.js "$@"; }';
const START_TIMEOUT_MS = 60_000;

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  let previous = { language: "", endsAt: -1 };
  return [...text.matchAll(/([^\n]*)\n\n```(\w+)\n(.*?)\n```/gs)].map((match) => {
    const [whole, before = "", language = "", content = ""] = match;
    const isShown = language === "text" || language === "json";
    const isOutput = isShown && previous.language === "sh" && previous.endsAt === match.index;
    previous = { language, endsAt: match.index + whole.length };
    return { language, text: content, before, isOutput };
  });
}

/**
 * Whether a command printed the output on the page. `…` matches anything within a line; on a line
 * by itself it matches any lines. How the page breaks and indents lines does not matter.
 */
function isPrinted(shown: string, printed: string): boolean {
  const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const words = (line: string) =>
    line
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => word.split("…").map(literal).join("[^\\n]*?"))
      .join("\\s*");
  const lines = shown.split("\n").map((line) => (line.trim() === "…" ? "[^]*?" : words(line)));
  return new RegExp(`^\\s*${lines.join("\\s*")}\\s*$`).test(printed);
}

/** Lines that later blocks of a page rely on: `export A=…`, `a=… b=…`. */
const assignmentsOf = (text: string): string =>
  text
    .split("\n")
    .filter((line) => /^(?:export )?[A-Za-z_]+=(?!.*\b(?:npm|npx|curl)\b)/.test(line))
    .join("\n");

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const cwd = await temporaryFolder();
for (const name of ["dist", "node_modules", "package.json", "migrations"]) {
  await symlink(join(ROOT, name), join(cwd, name));
}
const databaseUrl = await freshDatabase();
const warehouseUrl = await freshDatabase();
const env = {
  PATH: process.env.PATH,
  PORT: String(port),
  NODE_OPTIONS: BRIEFLY.join(" "),
  ...KEPT_CODE,
  RAPPORT_URL: url,
  LOG_LEVEL: "warn",
  ...(databaseUrl && { DATABASE_URL: databaseUrl, WAREHOUSE_URL: warehouseUrl }),
};

const bash = (script: string, detached = false): ChildProcess =>
  spawn("bash", ["-euo", "pipefail", "-c", script.replaceAll("http://127.0.0.1:8080", url)], {
    cwd,
    env,
    detached,
    stdio: ["ignore", "pipe", "pipe"],
  });

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly printed: string;
}

async function run(script: string): Promise<Finished> {
  // A refusal by the server fails the command, unless the command handles the failure itself.
  const child = bash(`curl() { case " $* " in *" -f"*) command curl "$@";;
    *) command curl -sS --fail-with-body "$@";; esac; }\n${NPX}\n${script}`);
  const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_TIMEOUT_MS);
  let [stdout, printed] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    printed += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const [code] = await once(child, "close");
  clearTimeout(timer);
  return { code, stdout, printed };
}

let server: ChildProcess | undefined;
let hasStarted = false;

/** Stops the server that runs, as the guides ask, and starts one as a block says. */
async function start(script: string, assignments: string): Promise<void> {
  await stop();
  // Only the embedded engine has a demo workspace by default. A server in memory has its own
  // secrets, and so needs a separate database.
  const unset = script.includes("DATA_DIR=memory:") ? "-u DATABASE_URL " : "";
  const needsDemo = databaseUrl && !/MANIFEST=|--demo/.test(script);
  const demo = needsDemo ? " -- --demo" : "";
  // The clone is there, and installed.
  const command = script
    .replace(/^git clone .*\n/m, "")
    .replace(/npm ci && /, "")
    .replace(/npm start/, `npm start${demo}`)
    // As the script of package.json; the first start takes it, and usual-start.test.ts.
    .replace(/npm start(?: --)?/, (npm) => (hasStarted ? "node dist/bundle/main.js serve" : npm));
  hasStarted = true;
  const child = bash(`${assignments}\nexec env ${unset}${command.replace(/^env /, "")}`, true);
  server = child;
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`The server did not start:\n${printed}`);
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function stop(): Promise<void> {
  const child = server;
  server = undefined;
  if (!child?.pid || child.exitCode !== null) return;
  const closed = once(child, "close");
  process.kill(-child.pid, "SIGTERM");
  await closed;
}

after(stop);

async function follow({ language, text, before }: Block, assignments: string): Promise<string> {
  const file = /[Ss]ave this as `([\w.-]+)`/.exec(before)?.[1];
  if (file) await writeFile(join(cwd, file), text);
  if (language !== "sh" || /\b(?:npm test|npm run pack|createdb)\b/.test(text)) return "";
  // A warehouse is a PostgreSQL here.
  if (/\bpsql\b/.test(text) && warehouseUrl === undefined) return "";
  if (/\bnpm start\b/.test(text)) {
    await start(text, assignments);
    return "";
  }
  const { code, stdout, printed } = await run(`${assignments}\n${text}`);
  assert.equal(code, 0, `${text}\n\nprinted:\n${printed}`);
  return stdout;
}

describe("the README and the guides", { skip: skipWithoutCurl }, () => {
  for (const page of PAGES) {
    const skip = isCluster && NOT_ON_CITUS.includes(page) && "not on Citus";
    test(`every command of ${page} works as written`, { skip }, async () => {
      let assignments = "";
      let printed = "";
      for (const block of blocksOf(page)) {
        if (block.isOutput && block.language === "json") {
          assert.deepEqual(JSON.parse(printed), JSON.parse(block.text), page);
        }
        if (block.isOutput && block.language === "text") {
          assert.ok(
            isPrinted(block.text, printed),
            `${page} shows:\n${block.text}\nprinted:\n${printed}`,
          );
        }
        printed = await follow(block, assignments);
        if (block.language === "sh") assignments += `\n${assignmentsOf(block.text)}`;
      }
    });
  }

  test("an output on a page is compared with the printed one, except for the parts that the page marks with …", () => {
    const shown = '{ "total": …,\n  "exact": true }\n…\nEnd. (1 of 2)';
    assert.ok(isPrinted(shown, '{"total":12,"exact":true}\none\ntwo\nEnd. (1 of 2)\n'));
    assert.ok(!isPrinted(shown, '{"total":12,"exact":false}\none\nEnd. (1 of 2)\n'));
    assert.ok(!isPrinted(shown, '{"total":12,"exact":true}\none\nEnd. (1 of 2)\nmore\n'));
    assert.ok(!isPrinted("3 users", "13 users\n"));
  });

  test("a text that a page shows directly after a command is found as its output, on every page with such a text", () => {
    const outputs = (page: string) => blocksOf(page).filter(({ isOutput }) => isOutput).length;
    assert.deepEqual(
      ["README.md", "docs/segments.md", "docs/webhooks.md", "docs/import.md"].map(outputs),
      [1, 1, 1, 5],
    );
  });

  test("every page under docs/ is followed by the guide test or is listed as a page without commands", () => {
    const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
    assert.deepEqual(
      pages.filter((name) => !PAGES.includes(`docs/${name}`) && !NO_GUIDES.includes(name)),
      [],
      "Enter the page into PAGES.",
    );
  });

  test("every command under docs/operations/ is carried out by the guide test or by the try-out on an empty Debian", () => {
    const steps = readFileSync(join(ROOT, "test/debian/steps.sh"), "utf8");
    const pages = readdirSync(join(ROOT, "docs/operations"));
    const having = (language: string) =>
      pages.filter((name) => {
        const page = readFileSync(join(ROOT, "docs/operations", name), "utf8");
        return page.includes(`\`\`\`${language}`);
      });
    assert.deepEqual(having("bash"), ON_A_MACHINE);
    for (const name of ON_A_MACHINE) assert.ok(steps.includes(`/${name}`), name);
    assert.deepEqual(
      having("sh").filter((name) => !PAGES.includes(`docs/operations/${name}`)),
      [],
      "Enter the page into PAGES.",
    );
  });
});
