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

export interface PackedProject {
  readonly project: string;
  /** The folder of an installed package. */
  installed(name: string): string;
  /** Its package.json. */
  describedBy(name: string): any;
}

/** Packs both packages, and installs them in a folder that goes when the test file ends. */
export async function installPackages(): Promise<PackedProject> {
  const project = await temporaryFolder();
  const installed = (name: string) => join(project, "node_modules", name);
  const describedBy = (name: string) =>
    JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"));
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
  return { project, installed, describedBy };
}
