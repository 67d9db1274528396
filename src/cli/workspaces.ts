import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { callAdmin } from "./admin-client.ts";
import { placeOf, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { type ConfirmOptions, confirm, printJson, printResult, printText } from "./terminal.ts";
import { workspacePath } from "./workspace-option.ts";

const DELETION = `
It must have no users, or allow_reset: true. Everything in it is deleted: users, keys, apps, groups, campaigns, syncs,
webhooks. Take it out of manifests first: a manifest that still declares it creates it again.

Example:
  ${RAPPORT} workspaces delete demo --yes`;

/** `rapport workspaces list|delete`, through the admin API of a running server. */
export function define(workspaces: Command): void {
  workspaces.addHelpText("after", `\nExample:\n  ${RAPPORT} workspaces list`);

  withTarget(workspaces.command("list"))
    .description("Lists the workspaces.")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} workspaces list --json`)
    .action(async (options: TargetOptions & { readonly json?: true }) => {
      const target = targetOf(options);
      const { workspaces: all } = await callAdmin<"listWorkspaces">(target, "GET", "/workspaces");
      printResult(options, all, (each) =>
        each.map(({ name, allow_reset }) => (allow_reset ? `${name}  allow_reset` : name)),
      );
    });

  withTarget(workspaces.command("delete <workspace>"))
    .description("Deletes a workspace with everything in it. This cannot be undone.")
    .option("-y, --yes", "does not ask")
    .addHelpText("after", DELETION)
    .action(async (workspace: string, options: TargetOptions & ConfirmOptions) => {
      const target = targetOf(options);
      await confirm(
        `This deletes the workspace '${workspace}' at ${placeOf(target)} with everything in it. Its keys stop working.`,
        options,
      );
      await callAdmin(target, "DELETE", workspacePath(workspace));
      if (options.json) printJson({ workspace, message: "success" });
      else printText(`The workspace '${workspace}' is deleted.\n`);
    });
}
