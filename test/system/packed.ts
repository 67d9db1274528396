/* Both tarballs in an empty project, as npm installs them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { temporaryFolder } from "../stored-rows.ts";

export const run = promisify(execFile);

export const ROOT = packageRoot();

export const PACK = join(ROOT, "dist", "build", "pack.js");

export const project = await temporaryFolder();
export const installed = (name: string) => join(project, "node_modules", name);
export const describedBy = (name: string) =>
  JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"));

export async function installPackages(): Promise<void> {
  await run(process.execPath, [PACK, project]);
  for (const tarball of (await readdir(project)).filter((name) => name.endsWith(".tgz"))) {
    const name = tarball.replace(/-\d.*$/, "");
    await mkdir(installed(name), { recursive: true });
    await run("tar", [
      "-xzf",
      join(project, tarball),
      "--strip-components=1",
      "-C",
      installed(name),
    ]);
    // npm installs a package's dependencies; here they come from the clone.
    for (const dependency of Object.keys(describedBy(name).dependencies)) {
      await mkdir(join(installed(dependency), ".."), { recursive: true });
      await symlink(join(ROOT, "node_modules", dependency), installed(dependency));
    }
  }
}
