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
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { packageRoot } from "../src/database/migrate.ts";

interface Mutation {
  readonly rule: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
  readonly survives_because?: string;
}

/** A broken rule can make a test wait forever. That counts as caught. */
const LONGEST_RUN_MS = 300_000;

const root = packageRoot();
const runsWholeSuite = process.argv.includes("--all");
const words = process.argv.slice(2).filter((word) => word !== "--all");

const say = (line: string) => process.stdout.write(`${line}\n`);
const testFile = (name: string) => `${name}.test.js`;

function selectedMutations(): Mutation[] {
  const all = parse(readFileSync(join(root, "test", "mutations.yaml"), "utf8")) as Mutation[];
  const isSelected = ({ rule, file }: Mutation) =>
    words.length === 0 || words.some((word) => `${file} ${rule}`.includes(word));
  return all.filter(isSelected);
}

/** The repository, with a `dist/` of its own. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), "rapport-mutations-"));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  for (const name of readdirSync(root)) {
    if (name !== "dist" && name !== ".git") symlinkSync(join(root, name), join(copy, name));
  }
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  return copy;
}

const compiledPath = (copy: string, { file }: Mutation) =>
  join(copy, "dist", "src", file.replace(/\.ts$/, ".js"));

/** @throws Error unless the text to replace stands exactly once in the compiled file. */
function mutate(compiled: string, { file, find, replace }: Mutation): string {
  const count = compiled.split(find).length - 1;
  if (count === 1) return compiled.replace(find, () => replace);
  throw new Error(
    `src/${file} contains this text ${count} times instead of once. ` +
      `Correct the entry in test/mutations.yaml: ${find}`,
  );
}

/** Runs a compiled file of test/. Resolves to its first failed test, or undefined if all passed. */
function firstFailureOf(
  copy: string,
  file: string,
  args: readonly string[] = [],
  timeLimitMs = LONGEST_RUN_MS,
): Promise<string | undefined> {
  const path = join(copy, "dist", "test", file);
  const options = ["--enable-source-maps", "--test-reporter=tap", path, ...args];
  // A process group of its own, so that servers which a test started end with it.
  const child = spawn(process.execPath, options, { cwd: copy, detached: true });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.resume();
  const kill = () => process.kill(-Number(child.pid), "SIGKILL");
  process.on("exit", kill);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      kill();
      resolve(`${file} does not end`);
    }, timeLimitMs);
    child.on("close", (code) => {
      clearTimeout(timer);
      process.off("exit", kill);
      const [, title = "ends without a failed test"] =
        /^\s*(?:not ok \d+ -|✖) (.*)$/m.exec(output) ?? [];
      resolve(code === 0 ? undefined : `${file}: ${title}`);
    });
  });
}

async function whatCatches(copy: string, { tests }: Mutation): Promise<string | undefined> {
  if (runsWholeSuite) return firstFailureOf(copy, "suite.js", [], 10 * LONGEST_RUN_MS);
  for (const name of tests) {
    const failure = await firstFailureOf(copy, testFile(name));
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Refuses to start if a test fails anyway, because then its failure proves nothing. */
async function checkUnbroken(copy: string, mutations: readonly Mutation[]): Promise<void> {
  const files = new Set(mutations.flatMap(({ tests }) => tests).map(testFile));
  const args = runsWholeSuite ? [] : [...files];
  const failure = await firstFailureOf(copy, "suite.js", args, 10 * LONGEST_RUN_MS);
  if (failure !== undefined) throw new Error(`Fails before any rule is broken: ${failure}`);
}

// A signal alone would leave the copy and the running test behind.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const mutations = selectedMutations();
const copy = copyRepository();
// Every entry is checked before the first run: a run takes seconds, all of them many minutes.
for (const each of mutations) mutate(readFileSync(compiledPath(copy, each), "utf8"), each);
await checkUnbroken(copy, mutations);

const survivors: Mutation[] = [];
for (const [index, each] of mutations.entries()) {
  const path = compiledPath(copy, each);
  const compiled = readFileSync(path, "utf8");
  writeFileSync(path, mutate(compiled, each));
  const failure = await whatCatches(copy, each);
  writeFileSync(path, compiled);
  if (failure === undefined) survivors.push(each);
  const verdict = failure === undefined ? "SURVIVED" : `caught by ${failure}`;
  say(`${index + 1}/${mutations.length} ${each.rule} (src/${each.file}): ${verdict}`);
}

say(`Caught ${mutations.length - survivors.length} of ${mutations.length} broken rules.`);
for (const { rule, file, survives_because } of survivors) {
  say(`Survived: ${rule} (src/${file}). ${survives_because ?? "Add a test."}`);
  if (survives_because === undefined) process.exitCode = 1;
}
