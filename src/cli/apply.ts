import type { Command } from "commander";
import { applyManifestFile } from "../workspaces/manifest-file.ts";
import type { Change } from "../workspaces/resource.ts";
import { type AdminTarget, callAdmin } from "./admin-client.ts";
import { type TargetOptions, targetOf, withTarget } from "./target.ts";

export function define(command: Command): void {
  withTarget(command.argument("<manifest>", "a YAML or JSON file"))
    .addHelpText("after", "\nExample:\n  rapport apply rapport.yaml --url https://rapport.example")
    .action(async (manifest: string, options: TargetOptions) => {
      process.stdout.write(await applyThroughApi(manifest, targetOf(options)));
    });
}

/**
 * Applies a manifest file through the admin API of a running server.
 *
 * @returns one line for each change.
 * @throws with the file, the line and the rule where the server refuses it.
 */
async function applyThroughApi(path: string, target: AdminTarget): Promise<string> {
  const { changes } = await applyManifestFile(path, process.env, (manifest) =>
    callAdmin<{ changes: readonly Change[] }>(target, "POST", "/apply", manifest),
  );
  if (changes.length === 0) return "Nothing to change.\n";
  return changes.map((change) => `${describeChange(change)}\n`).join("");
}

const describeChange = ({ action, kind, workspace, name }: Change): string =>
  `${action} ${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;
