import type { Command } from "commander";
import { callAdmin } from "./admin-client.ts";
import {
  describeLife,
  type Listed,
  OVERLAP,
  printLines,
  printSecret,
  readDuration,
  revoke,
  rotate,
} from "./secrets.ts";
import { targetOf, withTarget } from "./target.ts";

interface ListedKey extends Listed {
  readonly permissions: readonly string[];
  readonly ip_allowlist: readonly string[];
  readonly previous_key_until: string | null;
}

/**
 * `rapport keys list|create|rotate|revoke`. Only the secret goes to standard output, so that it can be
 * piped to where it is stored.
 */
export function define(keys: Command): void {
  keys.addHelpText("after", "\nExample:\n  rapport keys create demo ci --permission users.track");
  const pathOf = (workspace: string) => `/workspaces/${encodeURIComponent(workspace)}/api-keys`;

  withTarget(keys.command("list <workspace>"))
    .description("Lists the keys of a workspace.")
    .action(async (workspace: string, options) => {
      const path = pathOf(workspace);
      const answer = await callAdmin<{ api_keys: ListedKey[] }>(targetOf(options), "GET", path);
      printLines(answer.api_keys.map(describeKey));
    });

  withTarget(keys.command("create <workspace> <name>"))
    .description("Creates a key and prints its secret, which is shown only once.")
    .requiredOption("--permission <name...>", "what the key allows: all, or names")
    .option("--ip <address...>", "addresses and CIDR blocks that may use it")
    .action(async (workspace: string, name: string, options) => {
      const body = { name, permissions: options.permission, ip_allowlist: options.ip ?? [] };
      await printSecret(targetOf(options), pathOf(workspace), body);
    });

  withTarget(keys.command("rotate <workspace> <name>"))
    .description("Gives a key a new secret and prints it; the old one keeps working for a while.")
    .option("--overlap <duration>", OVERLAP, readDuration)
    .action((workspace: string, name: string, options) =>
      rotate(targetOf(options), pathOf(workspace), name, options),
    );

  withTarget(keys.command("revoke <workspace> <name>"))
    .description("Revokes a key at once, for good.")
    .action((workspace: string, name: string, options) =>
      revoke(targetOf(options), pathOf(workspace), name, "API key"),
    );
}

function describeKey(key: ListedKey): string {
  const parts = [key.name, `permissions ${key.permissions.join(",")}`];
  if (key.ip_allowlist.length > 0) parts.push(`from ${key.ip_allowlist.join(",")}`);
  return [...parts, ...describeLife(key, key.previous_key_until)].join("  ");
}
