/*
 * `npm run titles COMMIT`: the titles of tests that a commit has and the working tree no longer has. Each needs a line in
 * replaced-titles.yaml that names the test which proves it now, or says why nothing has to.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { titlesIn } from "../titles.ts";

interface Replaced {
  readonly title: string;
  /** The title of the test that proves it now. */
  readonly by?: string;
  /** Why nothing proves it any more. */
  readonly because?: string;
}

const root = packageRoot();
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });

const isTest = (path: string) => path.endsWith(".test.ts");

const testSources = (): string[] =>
  readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter(isTest);

const [commit = "HEAD"] = process.argv.slice(2);
const before = new Set(
  git("ls-tree", "-r", "--name-only", commit, "test")
    .split("\n")
    .filter(isTest)
    .flatMap((path) => titlesIn(git("show", `${commit}:${path}`))),
);
const now = new Set(
  testSources().flatMap((path) => titlesIn(readFileSync(join(root, "test", path), "utf8"))),
);
const gone = [...before].filter((title) => !now.has(title));
const replaced = parse(
  readFileSync(join(root, "test/suite/replaced-titles.yaml"), "utf8"),
) as Replaced[];
const found = new Map(replaced.map((each) => [each.title, each]));
const faults = gone.flatMap((title) => {
  const { by, because } = found.get(title) ?? {};
  if (because !== undefined || (by !== undefined && now.has(by))) return [];
  return [`${title}\n  ${by === undefined ? "has no replacement." : `No test is called: ${by}`}`];
});

const say = (line: string) => process.stdout.write(`${line}\n`);
say(`${before.size} titles at ${commit}, ${now.size} now, ${gone.length} gone.`);
for (const fault of faults) say(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
