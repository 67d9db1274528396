/*
 * The end of `.ci/run` and `.ci/nightly`: what was repeated, the seconds of each step, and how many tests passed and failed.
 *
 *     node .ci/summary.js RESULTS SECONDS CODE STEP…
 *
 * Writes dist/flaky.json and dist/ci-steps.json. The seconds of a run that was resumed are those of all its parts.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [results = "", seconds, code, ...names] = process.argv.slice(2);
const inResults = (name) => join(results, name);
const linesOf = (path) => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
const say = (line) => process.stdout.write(`${line}\n`);

const ended = names.filter((name) => existsSync(inResults(`${name}.json`)));
const steps = ended.map((name) => JSON.parse(readFileSync(inResults(`${name}.json`), "utf8")));

const before = Number(linesOf(inResults("seconds"))[0] ?? 0);
const total = before + Number(seconds);
writeFileSync(inResults("seconds"), `${total}\n`);
const cpuSeconds = sum(steps.map(({ cpu_seconds }) => cpu_seconds));
const commit = execFileSync("git", ["rev-parse", "--short=8", "HEAD"], { encoding: "utf8" }).trim();
const record = { commit, seconds: total, cpu_seconds: cpuSeconds, steps };
writeFileSync("dist/ci-steps.json", `${JSON.stringify(record, null, 1)}\n`);

/** Files that failed and ran again, and the tests that failed in them. */
const repeated = ended
  .map((name, index) => ({
    step: steps[index].title,
    files: linesOf(inResults(`${name}/repeated-files`)),
    tests: linesOf(inResults(`${name}/repeated-tests`)),
  }))
  .filter(({ files }) => files.length > 0);
writeFileSync("dist/flaky.json", `${JSON.stringify({ commit, repeated }, null, 1)}\n`);

say(`\n=== Seconds of each step, and of the processor (${total} s, ${cpuSeconds} s together)`);
for (const { title, seconds, cpu_seconds, passed, failed } of steps) {
  const verdict = failed > 0 ? `${failed} FAILED` : `${passed} passed`;
  say(`${String(seconds).padStart(5)} ${String(cpu_seconds).padStart(5)}  ${title}: ${verdict}`);
}
for (const { step, files, tests } of repeated) {
  say(`Repeated, a defect to repair (${step}): ${files.join(", ")}: ${tests.join("; ")}`);
}
const failed = sum(steps.map((each) => each.failed));
// A run can also fail between two steps.
say(`${sum(steps.map((each) => each.passed))} passed, ${failed || (code === "0" ? 0 : 1)} failed`);
