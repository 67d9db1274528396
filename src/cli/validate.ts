import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { readConfig } from "../server/config.ts";
import { tryManifest } from "../server/start-checks.ts";
import { counted } from "./progress.ts";
import { printJson } from "./terminal.ts";

const HELP = `
It needs no server: the manifest is applied to an empty database in memory. The environment variables that it names
must be set; any value of the right length will do. A faulty one is reported with the file, the line and the column
of every fault.

Exit codes: 0 when the manifest is valid, 1 otherwise.

Example:
  ${RAPPORT} validate rapport.yaml`;

export function define(command: Command): void {
  command
    .argument("<manifest>", "a YAML or JSON file")
    .option("--json", "prints the result as JSON")
    .addHelpText("after", HELP)
    .action(async (path: string, { json }: { json?: true }) => {
      const changes = await tryManifest(readConfig(), path);
      if (json) printJson({ file: path, changes: changes.length });
      else
        process.stdout.write(
          `${path} is valid: ${counted(changes.length, "change")} to an empty server.\n`,
        );
    });
}
