/* How the command line is called where messages name it. */
import assert from "node:assert/strict";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { callOf } from "../../../src/core/base/command.ts";
import { temporaryFolder } from "../../stored-rows.ts";

const folder = await realpath(await temporaryFolder());

/** A package as npm unpacks it. @returns its folder. */
async function installIn(...path: readonly string[]): Promise<string> {
  const root = join(folder, ...path);
  await mkdir(join(root, "dist", "bundle"), { recursive: true });
  await writeFile(join(root, "dist", "bundle", "main.js"), "");
  return root;
}

/** A folder of programs with a link to the package's. */
async function programsOf(root: string, ...path: readonly string[]): Promise<string> {
  const programs = join(folder, ...path);
  await mkdir(programs, { recursive: true });
  await symlink(join(root, "dist", "bundle", "main.js"), join(programs, "rapport"));
  return programs;
}

test("messages name npx rapport-server in a clone and in a project, whose commands only npm finds", async () => {
  const root = await installIn("project", "node_modules", "rapport-server");
  const programs = await programsOf(root, "project", "node_modules", ".bin");
  const PATH = ["/nonexistent", programs].join(delimiter);
  assert.equal(callOf(root, { PATH }), "npx rapport-server");
  assert.equal(callOf(root, {}), "npx rapport-server");
});

test("messages name rapport if that is on the path and leads to this package", async () => {
  const root = await installIn("global", "lib", "node_modules", "rapport-server");
  const other = await installIn("other");
  const PATH = await programsOf(root, "global", "bin");
  assert.equal(callOf(root, { PATH }), "rapport");
  assert.equal(callOf(other, { PATH }), "npx rapport-server");
});

test("messages name what npx was called with, and how an archive's launcher was called", async () => {
  const root = await installIn("_npx", "0a1b", "node_modules", "rapport-server");
  const described = { _npx: { packages: ["./rapport-server-0.1.0.tgz"] } };
  await writeFile(join(root, "..", "..", "package.json"), JSON.stringify(described));
  assert.equal(callOf(root, {}), "npx ./rapport-server-0.1.0.tgz");
  await writeFile(join(root, "..", "..", "package.json"), "{}");
  assert.equal(callOf(root, {}), "npx rapport-server");
  assert.equal(callOf(root, { RAPPORT_COMMAND: "./rapport" }), "./rapport");
});
