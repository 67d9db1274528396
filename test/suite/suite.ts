/*
 * `npm test`, `npm run test:long`, `test:system`, `test:browser`, `test:limits`, `test:night` and `test:all`: runs parts of the suite
 * (suite-files.ts), or with `npm test -- NAME …` the files whose path contains a name.
 *
 *     node dist/test/suite/suite.js [--part PART …] [--engineless PART …] [NAME …]
 *
 * Importing the server and opening an engine take longer than most files. So a process does both
 * once and then runs many files, which share its server (`startServer()` in harness.ts). There is
 * one process more than the machine has cores (or TEST_PROCESSES), because a process often waits
 * for a server that it starts. The queue is a folder with one entry per file, from which the
 * processes take entries in order, the longest first (suite-times.ts); see suite-process.ts. Files of `limits/` run after the others,
 * two at a time: they measure the processor time of their own process, or wait. Node's own runner collects the results and prints them.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { skipWithoutChromium } from "../browser/chromium.ts";
import { isBelow, nameOf, PARTS, type Part, suiteFiles, testFiles } from "./suite-files.ts";
import { beginRun, type SuiteRun } from "./suite-run.ts";
import { longestFirst, recordTimes, type TimesOfFiles } from "./suite-times.ts";

const FOLDER = join(import.meta.dirname, "..");

const { values, positionals: wanted } = parseArgs({
  options: {
    part: { type: "string", multiple: true, default: ["main"] },
    engineless: { type: "string", multiple: true, default: [] },
  },
  allowPositionals: true,
});
const [parts, engineless] = [values.part, values.engineless].map((names) =>
  names.map((name): Part => {
    const part = PARTS.find((each) => each === name);
    if (!part) throw new Error(`The suite has no part ${name}. Its parts are ${PARTS.join(", ")}.`);
    return part;
  }),
) as [Part[], Part[]];
// The compiler leaves behind what it wrote for a file that was moved or removed since.
for (const path of testFiles(FOLDER)) {
  const source = join(packageRoot(), "test", path.replace(/\.js$/, ".ts"));
  if (!existsSync(source)) rmSync(join(FOLDER, path));
}
const engine = process.env.TEST_DATABASE_URL ? "postgres" : "embedded";
const { taken, leftOut } = suiteFiles(FOLDER, { wanted, parts, engineless, engine });
if (taken.length === 0) {
  process.stderr.write(`No test file's path contains ${wanted.join(" or ")}.\n`);
  process.exit(1);
}
say(announcement());

// Built files that the tests run besides the compiled ones, if they are older: the compiler alone
// does not build them.
for (const script of ["make-snapshot.js", "bundle.js"]) {
  execFileSync(process.execPath, [join(packageRoot(), "dist", "build", script)]);
}

// Compiled code of an earlier bundle, which processes of tests have kept (child-server.ts).
const kept = join(packageRoot(), "dist", "test-code");
if (existsSync(kept) && writtenAt(kept) < writtenAt(join(packageRoot(), "dist/bundle/main.js"))) {
  rmSync(kept, { recursive: true });
}

/** The names of the files that failed, for the command that runs them again, and the titles of their tests that did. */
const results = process.env.TEST_RESULTS ?? join(packageRoot(), "dist");
const failedTests = join(results, "failed-tests");
const failed = new Set<string>();
const failedTitles: string[] = [];
rmSync(failedTests, { force: true });
/** How many tests were not skipped. */
let ran = 0;
const suiteRun = beginRun();
const alone = taken.filter((path) => isBelow(path, "limits"));
const together = taken.filter((path) => !alone.includes(path));
const atMost = Number(process.env.TEST_PROCESSES ?? availableParallelism() + 1);
if (together.length > 0) await runFiles(together, Math.min(atMost, together.length), suiteRun);
if (alone.length > 0) await runFiles(alone, Math.min(2, atMost, alone.length), suiteRun);
if (failed.size > 0) {
  process.exitCode = 1;
  writeFileSync(failedTests, `${[...failed].join("\n")}\n`);
  writeFileSync(join(results, "failed-titles"), `${failedTitles.join("\n")}\n`);
  process.stderr.write(`To run what failed again: npm test -- ${[...failed].join(" ")}\n`);
}
const times = recordTimes(suiteRun.timesOfFiles());
if (wanted.length === 0) say(slowest(times));
if (wanted.length > 0 && ran === 0) {
  process.exitCode = 1;
  process.stderr.write(
    "Every test was skipped, so nothing was checked. The lines above say why; many need TEST_DATABASE_URL.\n",
  );
}
await suiteRun.end();

function writtenAt(path: string): number {
  return statSync(path).mtimeMs;
}

function say(line: string): void {
  if (line) process.stdout.write(`${line}\n`);
}

/** The files with the most processor time: where to look when the suite has become slow. */
function slowest(times: TimesOfFiles): string {
  const first = Object.entries(times)
    .filter(([name]) => taken.some((path) => nameOf(path) === name))
    .sort(([, one], [, other]) => other.cpu_seconds - one.cpu_seconds)
    .slice(0, 10);
  const each = first.map(
    ([name, { seconds, cpu_seconds }]) => `${name} ${cpu_seconds} (${seconds})`,
  );
  return `The slowest files, in seconds of processor time (and of time): ${each.join(", ")}.`;
}

/** Which files run, and in one line what does not and how to run it. */
function announcement(): string {
  if (wanted.length > 0) return `Running ${taken.map(nameOf).join(", ")}.`;
  const missing: string[] = [];
  const others = PARTS.filter((part) => !parts.includes(part));
  if (others.length > 0) {
    const commands = others.map((part) => (part === "main" ? "npm test" : `npm run test:${part}`));
    missing.push(`${commands.join(", ")} (all: npm run test:all)`);
  }
  if (parts.includes("browser") && skipWithoutChromium) {
    missing.push(
      "pages in a browser, without Chromium (apt-get install chromium-headless-shell, or set CHROMIUM)",
    );
  }
  if (engine === "embedded") missing.push("PostgreSQL (set TEST_DATABASE_URL)");
  if (leftOut.length > 0) {
    missing.push(`${leftOut.map(nameOf).join(", ")}, because no engine changes them`);
  }
  return missing.length > 0 ? `Not in this run: ${missing.join("; ")}.` : "";
}

/** Runs test files in a number of processes; resolves when they have ended. */
function runFiles(paths: readonly string[], processes: number, { queue, signal }: SuiteRun) {
  const inOrder = longestFirst(paths);
  for (const [index, path] of inOrder.entries()) {
    // A file's name has no folders.
    writeFileSync(join(queue, `${String(index).padStart(4, "0")}-${encodeURIComponent(path)}`), "");
  }
  const entry = join(import.meta.dirname, "suite-entry.js");
  return new Promise<void>((resolve) => {
    run({ files: Array(processes).fill(entry), concurrency: processes, signal })
      .on("test:pass", ({ name, skip, details }) => {
        if (skip === undefined && details.type !== "suite" && !name.endsWith(".js")) ran += 1;
      })
      .on("test:fail", ({ name, details }) => {
        ran += 1;
        process.exitCode = 1;
        if (name.endsWith(".test.js")) failed.add(nameOf(name));
        else if (details.type !== "suite" && !name.endsWith(".js")) failedTitles.push(name);
      })
      .compose(new spec())
      .on("end", () => {
        // The file that a dead process was running, and files that were never started.
        for (const entry of readdirSync(queue)) {
          const name = nameOf(decodeURIComponent(entry.slice(5).replace(/\.running$/, "")));
          failed.add(name);
          rmSync(join(queue, entry));
          process.stderr.write(`Not finished: ${name}\n`);
        }
        resolve();
      })
      .pipe(process.stdout, { end: false });
  });
}
