import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { printText } from "./terminal.ts";

export function define(command: Command): void {
  command
    .addHelpText(
      "after",
      `\nA running server serves it at /manifest.schema.json.\n\nExample:\n  ${RAPPORT} schema > manifest.schema.json`,
    )
    .action(async () => {
      const { assemble } = await import("../server/assemble.ts");
      const { publishedSchema } = await import("../core/admin/workspaces/apply-manifest.ts");
      printText(`${JSON.stringify(publishedSchema(await assemble()), null, 2)}\n`);
    });
}
