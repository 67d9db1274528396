import type { Command } from "commander";
import { printText } from "./terminal.ts";

export function define(command: Command): void {
  command
    .addHelpText(
      "after",
      "\nA running server serves it at /manifest.schema.json.\n\nExample:\n  rapport schema > manifest.schema.json",
    )
    .action(async () => {
      const { COMPANY_RESOURCES, RESOURCES } = await import("../server/app.ts");
      const { publishedSchema } = await import("../core/admin/workspaces/apply-manifest.ts");
      const resources = { resources: RESOURCES, companyResources: COMPANY_RESOURCES };
      printText(`${JSON.stringify(publishedSchema(resources), null, 2)}\n`);
    });
}
