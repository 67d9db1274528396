import { type Command, InvalidArgumentError } from "commander";
import { type AdminTarget, callAdmin } from "./admin-client.ts";

interface ListedKey {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly ip_allowlist: readonly string[];
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly previous_key_until: string | null;
  readonly revoked_at: string | null;
}

/** Something that tells which server a command talks to. */
type TargetOf = (options: { url: string; adminToken?: string }) => AdminTarget;

/**
 * Adds `rapport keys list|create|rotate|revoke`. A secret goes to standard output alone, so that it
 * can be piped to where it is kept.
 *
 * @param withTarget adds the options that `targetOf` reads.
 */
export function addKeysCommand(
  program: Command,
  withTarget: (command: Command) => Command,
  targetOf: TargetOf,
): void {
  const keys = program.command("keys").description("Manages the API keys of a running server.");

  withTarget(keys.command("list <workspace>"))
    .description("Lists the keys of a workspace.")
    .action(async (workspace: string, options) => {
      const path = pathOf(workspace);
      const answer = await callAdmin<{ api_keys: ListedKey[] }>(targetOf(options), "GET", path);
      process.stdout.write(answer.api_keys.map((key) => `${describeKey(key)}\n`).join(""));
    });

  withTarget(keys.command("create <workspace> <name>"))
    .description("Makes a key and prints its secret, which is shown this once.")
    .requiredOption("--permission <name...>", "what the key may do: all, or names")
    .option("--ip <address...>", "addresses and CIDR blocks that it may be used from")
    .action(async (workspace: string, name: string, options) => {
      const body = { name, permissions: options.permission, ip_allowlist: options.ip ?? [] };
      await printSecret(targetOf(options), pathOf(workspace), body);
    });

  withTarget(keys.command("rotate <workspace> <name>"))
    .description("Gives a key a new secret and prints it; the older one stays good for a while.")
    .option("--overlap <duration>", "such as 30m, 24h or 7d (default: 24h)", readDuration)
    .action(async (workspace: string, name: string, options) => {
      const path = `${pathOf(workspace, name)}/rotate`;
      const { overlap } = options as { overlap?: number };
      await printSecret(
        targetOf(options),
        path,
        overlap === undefined ? {} : { overlap_seconds: overlap },
      );
    });

  withTarget(keys.command("revoke <workspace> <name>"))
    .description("Closes a key at once and for good.")
    .action(async (workspace: string, name: string, options) => {
      await callAdmin(targetOf(options), "DELETE", pathOf(workspace, name));
      process.stderr.write(`The API key ${name} is revoked.\n`);
    });
}

const pathOf = (workspace: string, key?: string): string =>
  `/workspaces/${encodeURIComponent(workspace)}/api-keys${key === undefined ? "" : `/${encodeURIComponent(key)}`}`;

async function printSecret(target: AdminTarget, path: string, body: unknown): Promise<void> {
  const answer = await callAdmin<{ key: string; previous_key_until?: string }>(
    target,
    "POST",
    path,
    body,
  );
  process.stdout.write(`${answer.key}\n`);
  if (answer.previous_key_until) {
    process.stderr.write(`The older secret is good until ${answer.previous_key_until}.\n`);
  }
}

function describeKey(key: ListedKey): string {
  const parts = [key.name, `permissions ${key.permissions.join(",")}`];
  if (key.ip_allowlist.length > 0) parts.push(`from ${key.ip_allowlist.join(",")}`);
  parts.push(`created ${key.created_at}`, `last seen ${key.last_seen_at ?? "never"}`);
  if (key.previous_key_until) parts.push(`older secret until ${key.previous_key_until}`);
  if (key.revoked_at) parts.push(`revoked ${key.revoked_at}`);
  return parts.join("  ");
}

const SECONDS_OF = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** `24h` as seconds. */
function readDuration(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (!count) throw new InvalidArgumentError("Write it as 30m, 24h or 7d.");
  return Number(count) * SECONDS_OF[unit as keyof typeof SECONDS_OF];
}
