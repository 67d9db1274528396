/*
 * `npm run mutate`: how many broken rules the tests notice.
 *
 * Breaks the rules of mutations.yaml one at a time and runs the tests that should notice. A rule whose
 * tests still pass is a survivor: nothing tests it. Arguments select the mutations whose rule or file
 * contains one of them; `--all` runs the whole suite for each, which takes hours.
 *
 * The compiled code is copied to a temporary folder and changed there, so that nothing is compiled
 * again and the repository stays as it is.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { partOf, reaches, testFiles } from "../suite/suite-files.ts";
import {
  type BrokenRule,
  breakRule,
  copyRepository,
  findPlace,
  removeWithDisks,
} from "./broken-rule.ts";

export interface Mutation extends BrokenRule {
  readonly tests: readonly string[];
  readonly survives_because?: string;
  /** Only what runs in the night notices: all of a kind of which a change tries a sample. */
  readonly thorough?: true;
}

/** A broken rule can make a test wait forever. That counts as caught. */
const LONGEST_RUN_MS = 300_000;
const SUITE_RUN_MS = 10 * LONGEST_RUN_MS;

const root = packageRoot();
const runsWholeSuite = process.argv.includes("--all");
const words = process.argv.slice(2).filter((word) => word !== "--all");

const say = (line: string) => process.stdout.write(`${line}\n`);
/** The paths of all compiled tests below dist/test. */
const paths = testFiles(join(root, "dist", "test"));

/** The path of a test file below dist/test; its name has no folder. */
function testFile(name: string): string {
  const path = paths.find((each) => basename(each) === `${name}.test.js`);
  if (path === undefined) throw new Error(`No test file is called ${name}.test.ts.`);
  return path;
}

function selectedMutations(): Mutation[] {
  const all = parse(
    readFileSync(join(root, "test", "mutations", "mutations.yaml"), "utf8"),
  ) as Mutation[];
  const isSelected = ({ rule, file }: Mutation) =>
    words.length === 0 || words.some((word) => `${file} ${rule}`.includes(word));
  return all.filter(isSelected);
}

const FAILED = /^\s*(?:not ok \d+ -|✖) (.*)\n/m;

interface HowToRun {
  readonly args?: readonly string[];
  readonly timeLimitMs?: number;
  readonly isThorough?: boolean | undefined;
}

/** Runs a compiled file of test/. Resolves to its first failed test, or undefined if all passed. */
function firstFailureOf(
  copy: string,
  file: string,
  { args = [], timeLimitMs = LONGEST_RUN_MS, isThorough = false }: HowToRun = {},
): Promise<string | undefined> {
  const path = join(copy, "dist", "test", file);
  const options = ["--enable-source-maps", "--test-reporter=tap", path, ...args];
  // A run that is killed leaves its files behind.
  const TMPDIR = mkdtempSync(join(copy, "tmp-"));
  // A separate process group, so that servers which a test started end with it.
  const thorough = isThorough && { TEST_THOROUGH: "1" };
  const env = { ...process.env, ...thorough, RULE_IS_BROKEN: "1", TMPDIR };
  const child = spawn(process.execPath, options, { cwd: copy, env, detached: true });
  let output = "";
  const kill = () => {
    try {
      process.kill(-Number(child.pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    output += chunk;
    if (FAILED.test(output)) kill(); // The other tests would show no more.
  });
  child.stderr.resume();
  process.on("exit", kill);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      kill();
      resolve(`${file} does not end`);
    }, timeLimitMs);
    child.on("close", (code) => {
      clearTimeout(timer);
      process.off("exit", kill);
      removeWithDisks(TMPDIR);
      const [, title = "ends without a failed test"] = FAILED.exec(output) ?? [];
      resolve(code === 0 ? undefined : `${file}: ${title}`);
    });
  });
}

async function whatCatches(
  copy: string,
  { tests, thorough: isThorough }: Mutation,
): Promise<string | undefined> {
  if (runsWholeSuite) return firstFailureOf(copy, "suite/suite.js", { timeLimitMs: SUITE_RUN_MS });
  for (const name of tests) {
    const failure = await firstFailureOf(copy, testFile(name), { isThorough });
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Whether a test of a mutation runs servers as separate processes: joining their files takes longer than most tests. */
const runsBundle = ({ tests }: Mutation): boolean =>
  runsWholeSuite ||
  tests.map(testFile).some((path) => {
    const isInProcess = ["main", "long"].includes(partOf(path));
    return !isInProcess || reaches(join(root, "dist", "test", path), '"bundle"');
  });

/** Refuses to start if a test fails already, because then its failure proves nothing. */
async function checkUnbroken(copy: string, mutations: readonly Mutation[]): Promise<void> {
  const files = new Set(mutations.flatMap(({ tests }) => tests).map(testFile));
  const args = runsWholeSuite ? [] : [...files];
  const failure = await firstFailureOf(copy, "suite/suite.js", {
    args,
    timeLimitMs: SUITE_RUN_MS,
  });
  if (failure !== undefined) throw new Error(`Fails before any rule is broken: ${failure}`);
}

// A signal by itself would leave the copy and the running test behind.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const mutations = selectedMutations();
const copy = copyRepository();
// Every entry is checked before the first run: a run takes seconds, all of them many minutes.
for (const each of mutations) findPlace(copy, each);
await checkUnbroken(copy, mutations);

const survivors: Mutation[] = [];
for (const [index, each] of mutations.entries()) {
  const repair = breakRule(copy, each, runsBundle(each));
  const failure = await whatCatches(copy, each);
  repair();
  if (failure === undefined) survivors.push(each);
  const verdict = failure === undefined ? "SURVIVED" : `caught by ${failure}`;
  say(`${index + 1}/${mutations.length} ${each.rule} (src/${each.file}): ${verdict}`);
}

say(`Caught ${mutations.length - survivors.length} of ${mutations.length} broken rules.`);
for (const { rule, file, survives_because } of survivors) {
  say(`Survived: ${rule} (src/${file}). ${survives_because ?? "Add a test."}`);
  if (survives_because === undefined) process.exitCode = 1;
}
