import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { nearestTo } from "../core/base/values/nearest.ts";
import { SETTINGS } from "../server/config.ts";
import { printJson, printLines } from "./terminal.ts";

const HELP = `
Settings are environment variables, read once when a server or a command starts. docs/settings.md says more.

Examples:
  ${RAPPORT} settings
  ${RAPPORT} settings DATABASE_TIMEOUT`;

/** `rapport settings [name]`. */
export function define(command: Command): void {
  command
    .argument("[name]", "shows only this setting")
    .option("--json", "prints the result as JSON")
    .addHelpText("after", HELP)
    .action((name: string | undefined, { json }: { json?: true }) => {
      const shown = Object.entries(SETTINGS).filter(([each]) => !name || each === name);
      if (shown.length === 0) throw new Error(unknownSetting(name as string));
      if (json) {
        const settings = shown.map(([each, { about, default: value }]) => ({
          name: each,
          default: value,
          about,
        }));
        printJson({ settings });
      } else printLines(shown.map(describe));
    });
}

/** The settings that most servers need, for `rapport serve --help`. */
export function usualSettings(): string {
  const lines = Object.entries(SETTINGS).filter(([, { isUsual }]) => isUsual);
  return `\nEnvironment (${RAPPORT} settings lists all ${Object.keys(SETTINGS).length}):\n${lines.map(describe).join("\n")}`;
}

const describe = ([name, { about, default: value }]: [
  string,
  { about: string; default: string },
]) => `  ${name.padEnd(13)} ${about}${value && ` (default: ${value})`}`;

function unknownSetting(name: string): string {
  const meant = nearestTo(name.toUpperCase(), Object.keys(SETTINGS));
  return `There is no setting ${name}${meant ? `; did you mean ${meant}?` : `. ${RAPPORT} settings lists all.`}`;
}
