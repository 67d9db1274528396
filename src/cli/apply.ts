import type { Command } from "commander";
import { applyManifestFile } from "../core/admin/workspaces/manifest-file.ts";
import type { ConfigChange } from "../core/admin/workspaces/resource.ts";
import { RAPPORT } from "../core/base/command.ts";
import { callAdmin } from "./admin-client.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { confirm, paint, printJson, printLines, printText } from "./terminal.ts";

const HELP = `
Applying a manifest again changes nothing. A faulty one is rejected with the file, the line and the column of every
fault, and nothing is applied.

Examples:
  ${RAPPORT} apply rapport.yaml --url https://rapport.example
  ${RAPPORT} apply rapport.yaml --dry-run --prune`;

interface ApplyOptions extends TargetOptions {
  readonly dryRun?: true;
  readonly prune?: true;
  readonly yes?: true;
}

export function define(command: Command): void {
  withTarget(command.argument("<manifest>", "a YAML or JSON file"))
    .option("--dry-run", "previews the changes, field by field, without applying them")
    .option("--prune", "also removes what earlier manifests declared in lists that this one omits")
    .option(
      "-y, --yes",
      "does not ask before keys, tokens or, with --prune, other entries are removed",
    )
    .addHelpText("after", HELP)
    .action(async (manifest: string, options: ApplyOptions) => {
      const target = targetOf(options);
      if (!options.dryRun && !options.yes) await confirmRemovals(manifest, target, options);
      const applied = await applyThroughApi(manifest, target, options);
      const kept = options.dryRun && !options.prune ? await keptIn(manifest, target, applied) : [];
      const notes = [...applied.notes, ...kept];
      const { changes } = applied;
      if (options.json) printJson({ dry_run: options.dryRun ?? false, changes, notes });
      else if (changes.length === 0) printText("Nothing to change.\n");
      else printLines(changes.flatMap((change) => describeChange(change, options)));
      if (!options.json) printLines(notes.map((note) => `note: ${note}`));
    });
}

/** Removals that cannot be undone: the callers are refused from then on. */
const SECRETS = ["api_key", "scim_token"];

/**
 * @throws as `confirm` does if the manifest removes keys or tokens or, with `--prune`, anything.
 */
async function confirmRemovals(
  path: string,
  target: AdminTarget,
  { prune }: Pick<ApplyOptions, "prune">,
): Promise<void> {
  const { changes } = await applyThroughApi(path, target, {
    dryRun: true,
    ...(prune && { prune }),
  });
  const removed = changes.filter(
    ({ action, kind }) => action === "removed" && (prune || SECRETS.includes(kind)),
  );
  if (removed.length === 0) return;
  const lines = removed.flatMap((change) => describeChange(change, { dryRun: true }));
  await confirm(`${lines.map((line) => `  ${line}\n`).join("")}This cannot be undone.`, {});
}

/** Entries that stay although the manifest omits the list that declared them. */
async function keptIn(path: string, target: AdminTarget, applied: Applied): Promise<string[]> {
  const keyOf = ({ action, kind, workspace, name }: ConfigChange) =>
    [action, kind, workspace, name].join(" ");
  const known = new Set(applied.changes.map(keyOf));
  const pruned = await applyThroughApi(path, target, { dryRun: true, prune: true });
  return pruned.changes
    .filter((change) => change.action === "removed" && !known.has(keyOf(change)))
    .map((change) => `${nameOf(change)} stays: the manifest omits its list (--prune removes it).`);
}

interface Applied {
  readonly changes: readonly ConfigChange[];
  readonly notes: readonly string[];
}

/** @throws with a line for each fault, which has the file, the line, the column and the rule. */
async function applyThroughApi(
  path: string,
  target: AdminTarget,
  { dryRun, prune }: Pick<ApplyOptions, "dryRun" | "prune">,
): Promise<Applied> {
  const query = new URLSearchParams({
    ...(dryRun && { dry_run: "true" }),
    ...(prune && { prune: "true" }),
  });
  const where = query.size > 0 ? `/apply?${query}` : "/apply";
  return applyManifestFile(path, process.env, (manifest) =>
    callAdmin<Applied>(target, "POST", where, manifest),
  );
}

const WOULD = { created: "would create", updated: "would update", removed: "would remove" };
const COLOURS = { created: "green", updated: "yellow", removed: "red" } as const;

/** A line for the change, and one for each field that a preview shows. */
function describeChange(change: ConfigChange, { dryRun }: Pick<ApplyOptions, "dryRun">): string[] {
  const { action, fields = [] } = change;
  const verb = paint(COLOURS[action], dryRun ? WOULD[action] : action);
  const lines = fields.map(({ field, before, after }) =>
    before === after ? `    ${field}` : `    ${field}: ${shown(before)} → ${shown(after)}`,
  );
  return [`${verb} ${nameOf(change)}`, ...lines];
}

const nameOf = ({ kind, workspace, name }: ConfigChange): string =>
  `${kind} ${name}${workspace && workspace !== name ? ` in ${workspace}` : ""}`;

const LONGEST_SHOWN = 200;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
