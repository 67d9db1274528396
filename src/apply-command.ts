import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "./problem.ts";
import { applyManifestFile } from "./workspaces/manifest-file.ts";
import type { Change } from "./workspaces/section.ts";

export interface ApplyTarget {
  readonly url: string;
  readonly adminToken: string | undefined;
  /** Where the token of a server on this machine is kept. */
  readonly dataDir: string;
}

/**
 * Applies a manifest file through the admin API of a running server.
 *
 * @returns one line for each change.
 * @throws with the file, the line and the rule where the server refuses it.
 */
export async function applyThroughApi(path: string, target: ApplyTarget): Promise<string> {
  const adminToken = target.adminToken ?? (await readKeptToken(target.dataDir));
  const changes = await applyManifestFile(path, process.env, (manifest) =>
    postManifest(manifest, target.url, adminToken),
  );
  if (changes.length === 0) return "Nothing to change.\n";
  return changes.map((change) => `${describeChange(change)}\n`).join("");
}

const describeChange = ({ action, kind, workspace, name }: Change): string =>
  `${action} ${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;

async function readKeptToken(dataDir: string): Promise<string> {
  const path = join(dataDir, "admin-token");
  const token = await readFile(path, "utf8").catch(() => undefined);
  if (token) return token.trim();
  throw new Error(
    `No admin token: set ADMIN_TOKEN, pass --admin-token, or run this where ${path} can be read.`,
  );
}

interface Answer {
  readonly changes: readonly Change[];
  readonly message: string;
  /** Of a manifest that is refused: where in it the fault is. */
  readonly path?: readonly (string | number)[];
}

async function postManifest(
  manifest: unknown,
  url: string,
  adminToken: string,
): Promise<readonly Change[]> {
  const response = await fetch(new URL("/admin/v1/apply", url), {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(manifest),
  }).catch((error: Error) => {
    throw new Error(`The server at ${url} cannot be reached: ${String(error.cause ?? error)}`);
  });
  const answer = (await response.json()) as Answer;
  if (response.ok) return answer.changes;
  if (answer.path) throw new Problem("INVALID_REQUEST", answer.message, { body: { ...answer } });
  throw new Error(`The server refused (${response.status}): ${answer.message}`);
}
