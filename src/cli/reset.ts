import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { callAdmin } from "./admin-client.ts";
import { placeOf, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { type ConfirmOptions, confirm, printJson, printText } from "./terminal.ts";
import { workspacePath } from "./workspace-option.ts";

const HELP = `
The manifest must say allow_reset: true. Keys, apps, groups and everything else it declares stay.

Example:
  ${RAPPORT} reset demo --yes`;

export function define(command: Command): void {
  withTarget(command.argument("<workspace>"))
    .option("-y, --yes", "does not ask")
    .addHelpText("after", HELP)
    .action(async (workspace: string, options: TargetOptions & ConfirmOptions) => {
      const target = targetOf(options);
      await confirm(
        `This deletes every user of the workspace '${workspace}' at ${placeOf(target)} with all their data, and ` +
          "keeps its keys, apps, groups, campaigns and settings.",
        options,
      );
      const path = `${workspacePath(workspace)}/reset`;
      await callAdmin(target, "POST", path);
      if (options.json) printJson({ workspace, message: "success" });
      else {
        printText(
          `The workspace '${workspace}' has no users. Its keys, apps, groups, campaigns and settings are as before.\n`,
        );
      }
    });
}
