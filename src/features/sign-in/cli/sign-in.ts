import type { Command } from "commander";
import { callAdmin } from "../../../cli/admin-client.ts";
import { type TargetOptions, targetOf, withTarget } from "../../../cli/target.ts";
import { printResult } from "../../../cli/terminal.ts";
import { RAPPORT } from "../../../core/base/command.ts";

const HELP = `
The link signs in as the administrator. It works once, for 15 minutes, for the first person who opens and confirms it.

Examples:
  ${RAPPORT} sign-in
  ${RAPPORT} sign-in --url https://rapport.example`;

/** `rapport sign-in`. */
export function define(command: Command): void {
  withTarget(command)
    .addHelpText("after", HELP)
    .action(async (options: TargetOptions) => {
      const link = await callAdmin<"createSignInLink">(targetOf(options), "POST", "/sign-in-links");
      printResult(options, link, ({ url }) => [url]);
    });
}
