import type { Command } from "commander";
import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import { readCount } from "../../../cli/read-count.ts";
import {
  type ConfirmOptions,
  confirm,
  printJson,
  printLines,
  printNote,
} from "../../../cli/terminal.ts";
import {
  addWorkspaceCommand,
  locate,
  type WorkspaceOptions,
} from "../../../cli/workspace-option.ts";

type Options = WorkspaceOptions;

/** `rapport users merges` and `rapport users unmerge`. */
export function define(users: Command): void {
  addWorkspaceCommand(
    users,
    "merges [user]",
    "Lists merges, newest first, and until when each can be undone.",
    "merges ada",
  )
    .option("--limit <count>", "how many at most", readCount, 20)
    .action(list);
  addWorkspaceCommand(
    users,
    "unmerge <id>",
    "Undoes a merge, by its id in the list of merges.",
    "unmerge 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11 --dry-run",
  )
    .option("--dry-run", "previews the effects without undoing")
    .option("-y, --yes", "does not ask")
    .action(unmerge);
}

type Merge = Reply<"listMerges">["merges"][number];
type Undone = Reply<"undoMerge">;

/** The largest page of the list. */
const MOST_LISTED = 500;

async function list(
  user: string | undefined,
  options: Options & { readonly limit: number },
): Promise<void> {
  const { target, path } = await locate(options, "/merges");
  const merges: Merge[] = [];
  let cursor: string | null | undefined;
  do {
    const left = options.limit - merges.length;
    const query = new URLSearchParams({ limit: String(Math.min(MOST_LISTED, left)) });
    if (user !== undefined) query.set("user", user);
    if (cursor) query.set("cursor", cursor);
    const page = await callAdmin<{ merges: Merge[]; cursor: string | null }>(
      target,
      "GET",
      `${path}?${query}`,
    );
    merges.push(...page.merges);
    cursor = page.cursor;
  } while (cursor && merges.length < options.limit);
  if (options.json) printJson({ merges, has_more: cursor !== null });
  else printLines(merges.map(describeMerge));
  if (merges.length === 0) printNote(user ? `'${user}' was not merged.` : "There is no merge.");
  else if (cursor) printNote("There are more: pass --limit.");
}

function describeMerge({ id, at, kept, merged, by, undoable_until, undone_at }: Merge): string {
  const [alias] = merged.user_aliases;
  const from = merged.external_id ?? alias?.alias_name ?? merged.platform_id;
  const state = undone_at
    ? `undone at ${undone_at}`
    : undoable_until
      ? `can be undone until ${undoable_until}`
      : "cannot be undone";
  return `${id}  ${at}  ${from} into ${kept.external_id ?? kept.platform_id}  by ${by}  ${state}`;
}

async function unmerge(
  id: string,
  options: Options & ConfirmOptions & { readonly dryRun?: boolean },
): Promise<void> {
  const { target, path } = await locate(options, `/merges/${encodeURIComponent(id)}/undo`);
  const preview = await callAdmin<"undoMerge">(target, "POST", path, { dry_run: true });
  const [merged, kept] = [preview.merged, preview.kept].map(
    ({ external_id, platform_id }) => external_id ?? platform_id,
  );
  if (options.dryRun) {
    if (options.json) return printJson(preview);
    return printLines([
      `Nothing is changed. ${merged} would come back from ${kept}:`,
      ...describeEffects(preview),
    ]);
  }
  await confirm(`This takes ${merged} back out of ${kept}.`, options);
  const undone = await callAdmin<"undoMerge">(target, "POST", path, {});
  if (options.json) return printJson(undone);
  printLines([`${merged} is back, and out of ${kept}:`, ...describeEffects(undone)]);
}

const describeEffects = ({ effects }: Undone): string[] =>
  effects.map(({ field, name, effect, kept, merged, result }) => {
    const what = name === undefined ? field : `${field} ${name}`;
    const values = [kept, merged, result].map((value) => JSON.stringify(value));
    return `  ${effect.padEnd(10)}  ${what}: ${values[1]}; kept user ${values[0]} -> ${values[2]}`;
  });
