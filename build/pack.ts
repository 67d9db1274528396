import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/*
 * `npm run pack -- FOLDER REPOSITORY_URL`: writes the tarballs of both packages into the folder of the clone, or into a given
 * folder. Their package.json has nothing that only a clone needs: no scripts, and no libraries of the build. The address of
 * the repository, if given, becomes `repository`, `homepage` and `bugs`, and stands in the documents for `your-clone`.
 */

const [, , destination = packageRoot(), repository] = process.argv;

const npmPack = (folder: string, ...more: string[]): string =>
  execFileSync("npm", ["pack", "--ignore-scripts", "--json", ...more], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });

const ONLY_IN_A_CLONE = ["private", "scripts", "workspaces", "devDependencies", "overrides"];

const url = repository === undefined ? undefined : addressOf(repository);

for (const folder of ["", "client"]) {
  const source = join(packageRoot(), folder);
  const [{ files }] = JSON.parse(npmPack(source, "--dry-run")) as [{ files: { path: string }[] }];
  const staged = mkdtempSync(join(tmpdir(), "rapport-pack-"));
  for (const { path } of files) {
    mkdirSync(dirname(join(staged, path)), { recursive: true });
    if (path.endsWith(".md")) edit(join(source, path), join(staged, path), packedDocument);
    else cpSync(join(source, path), join(staged, path));
  }
  cpSync(join(packageRoot(), "LICENSE"), join(staged, "LICENSE"));
  const file = join(staged, "package.json");
  edit(file, file, (text) => packedDescription(text, folder));
  const packed = npmPack(staged, "--pack-destination", resolve(destination));
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  rmSync(staged, { recursive: true });
  process.stdout.write(`${join(resolve(destination), filename)}\n`);
}

/** @throws Error unless it is the https address of a repository: its host, and a path. */
function addressOf(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (!/^https:\/\/[^@?#]+$/.test(text) || !parsed || parsed.pathname === "/") {
    throw new Error(`REPOSITORY_URL is not the https address of a repository: ${text}`);
  }
  return text.replace(/\/$|\.git\/?$/, "");
}

function edit(from: string, to: string, change: (text: string) => string): void {
  writeFileSync(to, change(readFileSync(from, "utf8")));
}

/** Pictures stay in the repository: they are a tenth of what the package would be. */
function packedDocument(text: string): string {
  const withoutPictures = text.replaceAll(
    /!\[([^\]]*)\]\((?:docs\/)?(images\/[^)]+)\)/g,
    (_, caption: string, path: string) =>
      url === undefined ? `*${caption}*` : `![${caption}](${url}/raw/HEAD/docs/${path})`,
  );
  if (url === undefined) return withoutPictures;
  return withoutPictures
    .replaceAll("uses: your-clone@", `uses: ${new URL(url).pathname.slice(1)}@`)
    .replaceAll(/\byour-clone\b/g, url);
}

function packedDescription(text: string, directory: string): string {
  const described = JSON.parse(text);
  for (const field of ONLY_IN_A_CLONE) delete described[field];
  // npm would look them up and unpack 75 MB at each installation; who reads such a source installs its driver.
  const { optionalDependencies: drivers, ...installed } = described;
  const ofRepository = url && {
    repository: { type: "git", url: `git+${url}.git`, ...(directory && { directory }) },
    homepage: `${url}#readme`,
    bugs: `${url}/issues`,
  };
  return `${JSON.stringify({ ...installed, ...(drivers && { drivers }), ...ofRepository }, null, 2)}\n`;
}
