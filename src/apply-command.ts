import { type AdminTarget, callAdmin } from "./admin-client.ts";
import { applyManifestFile } from "./workspaces/manifest-file.ts";
import type { Change } from "./workspaces/section.ts";

/**
 * Applies a manifest file through the admin API of a running server.
 *
 * @returns one line for each change.
 * @throws with the file, the line and the rule where the server refuses it.
 */
export async function applyThroughApi(path: string, target: AdminTarget): Promise<string> {
  const { changes } = await applyManifestFile(path, process.env, (manifest) =>
    callAdmin<{ changes: readonly Change[] }>(target, "POST", "/apply", manifest),
  );
  if (changes.length === 0) return "Nothing to change.\n";
  return changes.map((change) => `${describeChange(change)}\n`).join("");
}

const describeChange = ({ action, kind, workspace, name }: Change): string =>
  `${action} ${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;
