/*
 * `npm run build`, with the flags of the compiler in TSC_OPTIONS. Steps that do not wait for each other run side by side,
 * because most of them use one core. It is JavaScript, because nothing is compiled when it begins.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

/** npm puts the commands of the packages on the path. @throws Error if the command fails; what it printed says why. */
async function run(command, ...args) {
  const child = spawn(command, args, { cwd: root, stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed.`);
}

const script = (name, ...flags) => run(process.execPath, ...flags, join(dist, "build", name));

/** The bundles have the types of the packages beside them. */
async function bundle() {
  await Promise.all([run("tsc", "-p", "client"), run("tsc", "-p", "tsconfig.package.json")]);
  await script("bundle.js");
}

async function buildServer() {
  await run("tsc", ...(process.env.TSC_OPTIONS?.split(" ") ?? []));
  await script("patch-driver.js");
  // The engine runs for seconds: compilers that make its code faster take longer than they save.
  const snapshot = script("make-snapshot.js", "--liftoff-only");
  await Promise.all([bundle(), script("reference/write-reference.js"), snapshot]);
}

// An edit after this moment is not in the build: is-built.js.
mkdirSync(dist, { recursive: true });
writeFileSync(join(dist, "build-began"), "");
await Promise.all([buildServer(), run("vite", "build", "web", "--logLevel", "warn")]);
await script("write-notices.js");
renameSync(join(dist, "build-began"), join(dist, "built"));
