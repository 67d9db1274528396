import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import type { Reply } from "./admin-client.ts";
import {
  describeLife,
  OVERLAP,
  printListed,
  printSecret,
  readDuration,
  revoke,
  rotate,
} from "./secrets.ts";
import { withTarget } from "./target.ts";
import { workspacePath } from "./workspace-option.ts";

/**
 * `rapport keys list|create|rotate|revoke`. Only the secret goes to standard output, so that it can
 * be piped.
 */
export function define(keys: Command): void {
  keys.addHelpText(
    "after",
    `\nExample:\n  ${RAPPORT} keys create demo ci --permission users.track`,
  );
  const pathOf = (workspace: string) => `${workspacePath(workspace)}/api-keys`;

  withTarget(keys.command("list <workspace>"))
    .description("Lists the keys of a workspace.")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} keys list demo`)
    .action((workspace: string, options) =>
      printListed(options, pathOf(workspace), "api_keys", describeKey),
    );

  withTarget(keys.command("create <workspace> <name>"))
    .description("Creates a key and prints its secret, which is shown only once.")
    .requiredOption("--permission <name...>", "the key's permissions: all, or names")
    .option("--ip <address...>", "addresses and CIDR blocks that may use it")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} keys create demo ci --permission users.track`)
    .action(async (workspace: string, name: string, options) => {
      const body = { name, permissions: options.permission, ip_allowlist: options.ip ?? [] };
      await printSecret(options, pathOf(workspace), body);
    });

  withTarget(keys.command("rotate <workspace> <name>"))
    .description(
      "Gives a key a new secret and prints it; the previous one stays valid for an overlap.",
    )
    .option("--overlap <duration>", OVERLAP, readDuration)
    .addHelpText("after", `\nExample:\n  ${RAPPORT} keys rotate demo ci --overlap 24h`)
    .action((workspace: string, name: string, options) => rotate(options, pathOf(workspace), name));

  withTarget(keys.command("revoke <workspace> <name>"))
    .description("Revokes a key. This cannot be undone.")
    .option("-y, --yes", "does not ask")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} keys revoke demo ci`)
    .action((workspace: string, name: string, options) =>
      revoke(options, pathOf(workspace), name, "API key"),
    );
}

function describeKey(key: Reply<"listApiKeys">["api_keys"][number]): string {
  const parts = [key.name, `permissions ${key.permissions.join(",")}`];
  if (key.ip_allowlist.length > 0) parts.push(`from ${key.ip_allowlist.join(",")}`);
  return [...parts, ...describeLife(key, key.previous_key_until)].join("  ");
}
