import type { Command } from "commander";
import { applyManifestFile } from "../admin/workspaces/manifest-file.ts";
import type { Change } from "../admin/workspaces/resource.ts";
import { callAdmin } from "./admin-client.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { confirm, paint, printJson, printLines, printText } from "./terminal.ts";

const HELP = `
Applying a manifest again changes nothing. A faulty one is rejected with the file, the line and the column of every
fault, and nothing is applied.

Examples:
  rapport apply rapport.yaml --url https://rapport.example
  rapport apply rapport.yaml --dry-run --prune`;

interface ApplyOptions extends TargetOptions {
  readonly dryRun?: true;
  readonly prune?: true;
  readonly yes?: true;
}

export function define(command: Command): void {
  withTarget(command.argument("<manifest>", "a YAML or JSON file"))
    .option("--dry-run", "previews the changes without applying them")
    .option("--prune", "also removes what earlier manifests declared in lists that this one omits")
    .option("-y, --yes", "does not ask before --prune removes entries")
    .addHelpText("after", HELP)
    .action(async (manifest: string, options: ApplyOptions) => {
      const target = targetOf(options);
      if (options.prune && !options.dryRun && !options.yes) await confirmPruning(manifest, target);
      const changes = await applyThroughApi(manifest, target, options);
      if (options.json) printJson({ dry_run: options.dryRun ?? false, changes });
      else if (changes.length === 0) printText("Nothing to change.\n");
      else printLines(changes.map((change) => describeChange(change, options)));
    });
}

/** @throws as `confirm` does where the manifest removes anything. */
async function confirmPruning(path: string, target: AdminTarget): Promise<void> {
  const changes = await applyThroughApi(path, target, { dryRun: true, prune: true });
  const removed = changes.filter(({ action }) => action === "removed");
  if (removed.length === 0) return;
  const names = removed.map((change) => `  ${describeChange(change, { dryRun: true })}\n`).join("");
  await confirm(`${names}This cannot be undone.`, {});
}

/** @throws with a line for each fault, which has the file, the line, the column and the rule. */
async function applyThroughApi(
  path: string,
  target: AdminTarget,
  { dryRun, prune }: Pick<ApplyOptions, "dryRun" | "prune">,
): Promise<readonly Change[]> {
  const query = new URLSearchParams({
    ...(dryRun && { dry_run: "true" }),
    ...(prune && { prune: "true" }),
  });
  const where = query.size > 0 ? `/apply?${query}` : "/apply";
  const { changes } = await applyManifestFile(path, process.env, (manifest) =>
    callAdmin<{ changes: readonly Change[] }>(target, "POST", where, manifest),
  );
  return changes;
}

const WOULD = { created: "would create", updated: "would update", removed: "would remove" };
const COLOURS = { created: "green", updated: "yellow", removed: "red" } as const;

function describeChange(
  { action, kind, workspace, name }: Change,
  { dryRun }: Pick<ApplyOptions, "dryRun">,
): string {
  const verb = paint(COLOURS[action], dryRun ? WOULD[action] : action);
  return `${verb} ${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;
}
