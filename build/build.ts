/*
 * Run by `npm run build` after the compiler: makes everything else. Vite bundles the dashboard meanwhile, because most of
 * the other steps use one core.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/** @throws Error if the command fails; what it printed says why. */
async function run(command: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: packageRoot(), stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed.`);
}

const script = (name: string) => run(process.execPath, join(import.meta.dirname, name));

async function buildServer(): Promise<void> {
  await script("patch-driver.js");
  await Promise.all([run("tsc", "-p", "client"), run("tsc", "-p", "tsconfig.package.json")]);
  for (const name of ["bundle.js", "make-snapshot.js", "reference/write-reference.js"])
    await script(name);
}

// npm puts the commands of the packages on the path.
await Promise.all([buildServer(), run("vite", "build", "web", "--logLevel", "warn")]);
await script("write-notices.js");

// What was written since the build began is not in it: build/is-built.js.
const dist = join(packageRoot(), "dist");
renameSync(join(dist, "build-began"), join(dist, "built"));
