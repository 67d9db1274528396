import { readFileSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { delimiter, join } from "node:path";
import { packageRoot } from "./package-root.ts";

/*
 * Messages name commands that work where they are read: in a clone, in a project or everywhere on a machine, after npx with
 * a tarball, in the folder of an archive, and on the machine whose container writes the log.
 */

/** Whether this is the image, in which commands have the server's environment. */
export const IS_IMAGE = Boolean(process.env.RAPPORT_IMAGE);

/** How the command line is called here, such as `npx rapport-server`. */
export const RAPPORT = callOf(packageRoot(), process.env);

/** The same for the log of a server, which is read outside of its container. */
export const RAPPORT_IN_LOG = !IS_IMAGE
  ? RAPPORT
  : process.env.KUBERNETES_SERVICE_HOST
    ? `kubectl exec ${hostname()} -- ${RAPPORT}`
    : `docker exec ${hostname()} ${RAPPORT}`;

/** The same for pages that anyone may open: no path of this machine. */
export const RAPPORT_ON_PAGES = /[\\/]/.test(RAPPORT.replace("./", "")) ? "rapport" : RAPPORT;

/** @param root the folder of package.json. */
export function callOf(root: string, env: NodeJS.ProcessEnv): string {
  // The archive's launcher says how it was called.
  if (env.RAPPORT_COMMAND) return env.RAPPORT_COMMAND;
  return isOnPath(root, env) ? "rapport" : `npx ${packageOfNpx(root) ?? "rapport-server"}`;
}

/** npm puts the commands of a project on the path of what it runs: only there they have no more than their name. */
function isOnPath(root: string, { PATH = "" }: NodeJS.ProcessEnv): boolean {
  const bundle = join(realpathSync(root), "dist", "bundle");
  return PATH.split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")))
    .some((folder) => leadsInto(join(folder, "rapport"), bundle));
}

function leadsInto(file: string, folder: string): boolean {
  try {
    return realpathSync(file).startsWith(folder);
  } catch {
    return false;
  }
}

/** What npx was called with, if it has installed this package in its cache. */
function packageOfNpx(root: string): string | undefined {
  const cache = join(root, "..", "..");
  if (!/[\\/]_npx[\\/]/.test(cache)) return undefined;
  try {
    const { _npx } = JSON.parse(readFileSync(join(cache, "package.json"), "utf8"));
    return _npx.packages.find((each: string) => each.includes("rapport-server"));
  } catch {
    return undefined;
  }
}
