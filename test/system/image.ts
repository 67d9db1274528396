/*
 * Carries out a Dockerfile without a container engine: each stage is a layer over the root of this machine, whose Node
 * stands for the base image. It takes root, and Linux with overlayfs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { NODE } from "./child-server.ts";

interface Step {
  readonly operation: string;
  readonly text: string;
}

interface Stage {
  readonly name: string | undefined;
  readonly steps: readonly Step[];
}

/** The stages of a Dockerfile, and the ARGs before the first one. */
export function stagesOf(dockerfile: string): readonly Stage[] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim());
  const stages: { name: string | undefined; steps: Step[] }[] = [];
  for (const line of lines) {
    const [, operation = "", text = ""] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (operation === "FROM") stages.push({ name: / as (\S+)$/i.exec(text)?.[1], steps: [] });
    else stages.at(-1)?.steps.push({ operation, text });
  }
  return stages;
}

/** Whether .dockerignore leaves a path out: a pattern matches the path or a folder above it. */
export function isLeftOut(path: string, dockerignore: string): boolean {
  const parts = path.split("/");
  const above = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  let isOut = false;
  for (const line of dockerignore.split("\n").map((each) => each.trim())) {
    if (!line || line.startsWith("#")) continue;
    const isKept = line.startsWith("!");
    const pattern = line
      .slice(isKept ? 1 : 0)
      .replace(/^\/|\/$/g, "")
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(
        /\*\*\/|\*|\?/g,
        (glob) => ({ "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]" })[glob] ?? "",
      );
    const matcher = new RegExp(`^${pattern}$`);
    if (above.some((each) => matcher.test(each))) isOut = !isKept;
  }
  return isOut;
}

/** Copies the files of the clone that are not ignored by git, nor by .dockerignore. */
export function makeContext(root: string, context: string): void {
  const dockerignore = readFileSync(join(root, ".dockerignore"), "utf8");
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: root,
  });
  for (const path of listed.toString().split("\0").filter(Boolean)) {
    if (!existsSync(join(root, path)) || isLeftOut(path, dockerignore)) continue;
    mkdirSync(dirname(join(context, path)), { recursive: true });
    cpSync(join(root, path), join(context, path));
  }
}

export interface Image {
  /** The folder in which the last stage's files are. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly command: readonly string[];
}

function mount(...args: string[]): void {
  execFileSync("mount", args);
  const folder = args.at(-1) ?? "";
  after(() => spawnSync("umount", ["--lazy", "--recursive", folder]));
}

/** Whether this machine lets a layer be mounted. */
export function canMount(folder: string): boolean {
  const layers = join(folder, "probe");
  for (const name of ["upper", "work", "root"]) mkdirSync(join(layers, name), { recursive: true });
  const { status } = spawnSync("mount", overlay(layers), { stdio: "ignore" });
  if (status === 0) spawnSync("umount", ["--lazy", join(layers, "root")]);
  return status === 0;
}

const overlay = (layers: string): string[] => [
  "-t",
  "overlay",
  "overlay",
  "-o",
  `lowerdir=/,upperdir=${layers}/upper,workdir=${layers}/work`,
  join(layers, "root"),
];

const sh = (root: string, script: string, environment: Readonly<Record<string, string>>): void => {
  const { status, stdout, stderr } = spawnSync("chroot", [root, "sh", "-ec", script], {
    env: { ...environment },
    encoding: "utf8",
    maxBuffer: 64 * 1_048_576,
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${stdout}${stderr}`);
};

/**
 * Builds the image of a context.
 *
 * @throws Error if a step fails, or an operation is unknown; what the step printed says why.
 */
export function buildImage(context: string, folder: string): Image {
  const roots = new Map<string, string>();
  let image: Image | undefined;
  for (const [index, { name, steps }] of stagesOf(
    readFileSync(join(context, "Dockerfile"), "utf8"),
  ).entries()) {
    const layers = join(folder, `stage-${index}`);
    for (const part of ["upper", "work", "root"])
      mkdirSync(join(layers, part), { recursive: true });
    mount(...overlay(layers));
    const root = join(layers, "root");
    for (const part of ["dev", "proc"]) mount("--rbind", `/${part}`, join(root, part));
    const path = `${dirname(NODE)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
    const environment: Record<string, string> = { PATH: path, HOME: "/root" };
    sh(root, "id node >/dev/null 2>&1 || useradd --create-home node", environment);
    const volumes: string[] = [];
    let [workdir, user, entry, command] = ["/", "root", [] as string[], [] as string[]];
    const operations: Readonly<Record<string, (text: string) => void>> = {
      WORKDIR(text) {
        workdir = text;
        mkdirSync(join(root, workdir), { recursive: true });
      },
      ENV: (text) => assign(environment, text),
      ARG: (text) => assign(environment, text),
      COPY(text) {
        const [, from, paths = ""] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(text) ?? [];
        const sources = paths.split(/\s+/);
        const target = sources.pop() ?? "";
        const origin = from === undefined ? context : (roots.get(from) ?? `no stage ${from}`);
        const destination = join(root, target.startsWith("/") ? "" : workdir, target);
        for (const source of sources) copy(join(origin, source), destination, target.endsWith("/"));
      },
      RUN: (text) => sh(root, `cd ${workdir}; ${text}`, environment),
      USER(text) {
        user = text;
      },
      ENTRYPOINT(text) {
        entry = JSON.parse(text);
      },
      CMD(text) {
        command = JSON.parse(text);
      },
      VOLUME: (text) => void volumes.push(join(root, text)),
      EXPOSE: () => {},
      HEALTHCHECK: () => {},
    };
    for (const { operation, text } of steps) {
      const run = operations[operation];
      if (!run)
        throw new Error(`The Dockerfile has an operation that this does not know: ${operation}.`);
      run(text);
    }
    if (name) roots.set(name, root);
    image = { root, environment, workdir, user, volumes, command: [...entry, ...command] };
  }
  if (!image) throw new Error("The Dockerfile has no stage.");
  return image;
}

function assign(environment: Record<string, string>, text: string): void {
  for (const [, name = "", quoted, plain] of text.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)) {
    environment[name] = quoted ?? plain ?? "";
  }
}

/** As COPY does: what a folder holds, or a file under its name if the target is a folder. @throws Error if there is none. */
function copy(source: string, target: string, isFolder: boolean): void {
  const found = source.includes("*") ? globbed(source) : [source];
  if (found.length === 0) throw new Error(`There is nothing to copy: ${source}.`);
  for (const each of found) {
    const intoFolder = isFolder || existsSync(target) || target.endsWith(".");
    const to =
      statSync(each).isDirectory() || !intoFolder
        ? target
        : join(target, each.split("/").pop() ?? "");
    mkdirSync(dirname(to), { recursive: true });
    cpSync(each, to, { recursive: true, verbatimSymlinks: true });
  }
}

const globbed = (pattern: string): string[] =>
  execFileSync("sh", ["-c", `ls -d ${pattern} 2>/dev/null || true`], { encoding: "utf8" })
    .split("\n")
    .filter(Boolean);

/**
 * Makes the root read-only but for the volumes and /tmp, as compose.yaml does.
 *
 * @returns what starts the image's command as its user, in its folder.
 */
export function startArguments({ root, workdir, user, volumes, command }: Image): string[] {
  for (const volume of volumes) mount("--bind", volume, volume);
  mount("-t", "tmpfs", "tmpfs", join(root, "tmp"));
  execFileSync("mount", ["-o", "remount,bind,ro", root]);
  const script = `cd ${workdir}; exec ${command.map((each) => `'${each}'`).join(" ")}`;
  return ["chroot", `--userspec=${user}`, root, "sh", "-ec", script];
}
