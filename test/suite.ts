/*
 * `npm test`: runs the test files of this folder, or those whose names contain one of the arguments,
 * in one process more than the machine has cores (or in TEST_PROCESSES): a process often waits for a server that it
 * starts. With two more, a run takes as long.
 *
 * Importing the server and opening an engine take longer than most files. So a process does both
 * once and then runs many files, which share its server (`startServer()` in harness.ts). The queue
 * is a folder with one entry per file, from which the processes take entries in order; see
 * suite-process.ts. Node's own runner collects the results and prints them.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { packageRoot } from "../src/database/migrate.ts";
import { suiteFiles } from "./suite-files.ts";
import { beginRun } from "./suite-run.ts";

/** Started first, longest first, so that no process is left with one of them at the end. */
const SLOWEST = [
  "dashboard-pages",
  "dashboard-popups",
  "superlinear-growth",
  "event-loop",
  "fuzz",
  "identity-concurrency",
  "faults-postgres",
  "database-deadlines",
  "startup",
  "cdi-crash",
  "dashboard-translations",
  "dashboard-permissions",
  "dashboard-users",
  "load-shedding",
  "dashboard-preference-centers",
  "dashboard-live",
  "preference-center-browser",
  "backup",
  "guides",
  "faults-failover",
  "several-servers",
  "folder-lock",
  "telemetry",
  "round-trip",
  "secrets-at-rest",
  "dashboard-administration",
  "dashboard-administrators",
  "reference-browser",
  "access",
  "log",
  "isolation",
  "import-command",
  "import-files",
  "dashboard-company",
  "start-rapport",
  "live-stream",
  "apply-command",
  "track-batches",
  "crash",
];

/** The names of the files that failed, for whoever runs them again. */
const list = join(packageRoot(), "dist", "failed-tests");
const failed = new Set<string>();
rmSync(list, { force: true });

// What the tests run besides the compiled files, where it does not fit them: the compiler alone does not build it.
for (const script of ["database/make-snapshot.js", "server/bundle.js"]) {
  execFileSync(process.execPath, [join(packageRoot(), "dist", "src", script)]);
}

const wanted = process.argv.slice(2);
const engine = process.env.TEST_DATABASE_URL ? "postgres" : "embedded";
const { taken: names, leftOut } = suiteFiles(import.meta.dirname, wanted, engine);
if (leftOut.length > 0) {
  const list = leftOut.map((name) => name.replace(".test.js", "")).join(", ");
  process.stdout.write(`Left out on PostgreSQL, which they cannot reach: ${list}.\n`);
}
if (names.length === 0) throw new Error(`No test file's name contains ${wanted.join(" or ")}.`);

const rankOf = (name: string) => SLOWEST.indexOf(name.replace(".test.js", "")) >>> 0;
const { queue, signal, end } = beginRun();
for (const [index, name] of names.sort((one, other) => rankOf(one) - rankOf(other)).entries()) {
  writeFileSync(join(queue, `${String(index).padStart(4, "0")}-${name}`), "");
}

const suiteProcess = join(import.meta.dirname, "suite-process.js");
const atMost = Number(process.env.TEST_PROCESSES ?? availableParallelism() + 1);
const processes = Math.min(atMost, names.length);
run({ files: Array(processes).fill(suiteProcess), concurrency: processes, signal })
  .on("test:fail", ({ name }) => {
    process.exitCode = 1;
    if (name.endsWith(".test.js")) failed.add(name.replace(".test.js", ""));
  })
  .on("end", () => {
    // What a process that died was running, and what was never started.
    const unfinished = readdirSync(queue).map(
      (entry) => entry.slice(5).split(".test.js", 1)[0] ?? "",
    );
    for (const name of unfinished) {
      failed.add(name);
      process.stderr.write(`Not finished: ${name}\n`);
    }
    if (failed.size > 0) {
      process.exitCode = 1;
      writeFileSync(list, `${[...failed].join("\n")}\n`);
      process.stderr.write(`To run what failed again: npm test -- ${[...failed].join(" ")}\n`);
    }
    void end();
  })
  .compose(new spec())
  .pipe(process.stdout);
