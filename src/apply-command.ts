import { type AdminClient, type AdminTarget, connectAdmin } from "./admin-client.ts";
import { Problem } from "./problem.ts";
import { applyManifestFile } from "./workspaces/manifest-file.ts";
import type { Change } from "./workspaces/section.ts";

/**
 * Applies a manifest file through the admin API of a running server.
 *
 * @returns one line for each change.
 * @throws with the file, the line and the rule where the server refuses it.
 */
export async function applyThroughApi(path: string, target: AdminTarget): Promise<string> {
  const ask = await connectAdmin(target);
  const changes = await applyManifestFile(path, process.env, (manifest) =>
    postManifest(manifest, ask),
  );
  if (changes.length === 0) return "Nothing to change.\n";
  return changes.map((change) => `${describeChange(change)}\n`).join("");
}

const describeChange = ({ action, kind, workspace, name }: Change): string =>
  `${action} ${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;

async function postManifest(manifest: unknown, ask: AdminClient): Promise<readonly Change[]> {
  const { status, isOk, body } = await ask("POST", "/admin/v1/apply", manifest);
  if (isOk) return body.changes as Change[];
  // Where a fault stands in the manifest is told with it.
  if (body.path) throw new Problem("INVALID_REQUEST", body.message, { body });
  throw new Error(`The server refused (${status}): ${body.message}`);
}
