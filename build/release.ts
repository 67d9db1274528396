import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/*
 * `npm run release -- REPOSITORY_URL`: writes into dist/release what a release consists of: both tarballs, tested as a project
 * installs them and tried with `npm publish --dry-run`; the archives with Node; SHA256SUMS. It publishes nothing.
 */

const [, , ...repository] = process.argv;

const root = packageRoot();
const release = join(root, "dist", "release");
rmSync(release, { recursive: true, force: true });
mkdirSync(release, { recursive: true });

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { cwd: root, stdio: "inherit" });
};
const written = (name: RegExp): string[] => readdirSync(release).filter((file) => name.test(file));

run(process.execPath, join(import.meta.dirname, "pack.js"), release, ...repository);
const tarballs = written(/\.tgz$/).map((file) => join(release, file));
run("bash", "-euo", "pipefail", "-c", ". .ci/steps.sh; test_tarballs dist/release", "release");
for (const tarball of tarballs) run("npm", "publish", "--dry-run", "--access=public", tarball);
const server = tarballs.find((file) => file.includes("rapport-server")) ?? "";
run(process.execPath, join(import.meta.dirname, "archive.js"), release, server);

const sums = written(/gz$/).map((file) => {
  const sum = createHash("sha256").update(readFileSync(join(release, file)));
  return `${sum.digest("hex")}  ${file}\n`;
});
writeFileSync(join(release, "SHA256SUMS"), sums.join(""));
process.stdout.write(sums.join(""));
