import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/*
 * `npm run pack`: writes the tarballs of both packages into the folder of the clone, or into a
 * given folder. Their package.json has nothing that only a clone needs: no scripts, and no
 * libraries of the build.
 */

const [, , destination = packageRoot()] = process.argv;

const npmPack = (folder: string, ...more: string[]): string =>
  execFileSync("npm", ["pack", "--ignore-scripts", "--json", ...more], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });

const ONLY_IN_A_CLONE = ["private", "scripts", "workspaces", "devDependencies", "overrides"];

for (const folder of [packageRoot(), join(packageRoot(), "client")]) {
  const [{ files }] = JSON.parse(npmPack(folder, "--dry-run")) as [{ files: { path: string }[] }];
  const staged = mkdtempSync(join(tmpdir(), "rapport-pack-"));
  for (const { path } of files) {
    mkdirSync(dirname(join(staged, path)), { recursive: true });
    cpSync(join(folder, path), join(staged, path));
  }
  cpSync(join(packageRoot(), "LICENSE"), join(staged, "LICENSE"));
  const described = JSON.parse(readFileSync(join(staged, "package.json"), "utf8"));
  for (const field of ONLY_IN_A_CLONE) delete described[field];
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  const packed = npmPack(staged, "--pack-destination", resolve(destination));
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  rmSync(staged, { recursive: true });
  process.stdout.write(`${join(resolve(destination), filename)}\n`);
}
