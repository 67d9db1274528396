import { execFile } from "node:child_process";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/*
 * The peers are no dependencies of Rapport. The first run installs them with npm, from the registry that npm is
 * configured for, into a folder of the system's temporary files; later runs find them there.
 */

/** The newest releases whose `engines` allow Node 20, each in a separate folder. */
export const PEERS = {
  "parse-server": {
    version: "9.10.0",
    // It calls the inside of this package, and its batches fail with 2.3.0, which came out later.
    overrides: { router: "2.2.0" },
  },
  postgraphile: { version: "4.14.1", overrides: {} },
} as const;

export type PeerName = keyof typeof PEERS;

/** Loads a package that is installed with a peer. */
export type LoadPackage = (name: string) => any;

/** @param folder as `installPeers` returns it. */
export const loaderOf = (folder: string, peer: PeerName): LoadPackage =>
  createRequire(join(folder, peer, "package.json"));

/**
 * Installs the peers unless they are there.
 *
 * @returns the folder with a folder for each.
 * @throws if npm cannot install them, with its message.
 */
export async function installPeers(say: (line: string) => void): Promise<string> {
  const user = process.getuid?.();
  const folder = join(tmpdir(), `rapport-bench-peers-${user}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await stat(folder)).uid !== user) {
    // Programs are run from there, and every user of the machine can create a folder of that name.
    throw new Error(`${folder} belongs to another user: remove it, or set TMPDIR.`);
  }
  for (const name of Object.keys(PEERS) as PeerName[]) await install(name, folder, say);
  return folder;
}

async function install(name: PeerName, folder: string, say: (line: string) => void): Promise<void> {
  const { version, overrides } = PEERS[name];
  const own = join(folder, name);
  const manifest = JSON.stringify({ private: true, dependencies: { [name]: version }, overrides });
  const mark = join(own, "installed.json");
  if ((await readFile(mark, "utf8").catch(() => "")) === manifest) return;
  say(`installing ${name} ${version} into ${own}`);
  await rm(own, { recursive: true, force: true });
  await mkdir(own);
  await writeFile(join(own, "package.json"), manifest);
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  try {
    await promisify(execFile)("npm", ["install", "--prefix", own, ...options], { cwd: own });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const said = (stderr || message).trim().split("\n").slice(-8).join("\n");
    throw new Error(
      `${name} could not be installed: that needs npm and a registry that has it. npm said:\n${said}`,
    );
  }
  await writeFile(mark, manifest);
}
