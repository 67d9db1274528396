import { type Command, InvalidArgumentError } from "commander";
import { type AdminTarget, callAdmin } from "./admin-client.ts";

/** What the server lists of an API key or a SCIM token, whatever it grants. */
interface Listed {
  readonly name: string;
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly revoked_at: string | null;
}

interface ListedKey extends Listed {
  readonly permissions: readonly string[];
  readonly ip_allowlist: readonly string[];
  readonly previous_key_until: string | null;
}

interface ListedToken extends Listed {
  readonly service_origin: string;
  readonly require_origin: boolean;
  readonly previous_token_until: string | null;
}

/** How a command finds the server that it talks to. */
export interface Connection {
  /** Adds the options that `targetOf` reads. */
  withTarget(command: Command): Command;
  targetOf(options: { url: string; adminToken?: string }): AdminTarget;
}

/**
 * Adds `rapport keys list|create|rotate|revoke`. A secret goes to standard output alone, so that it
 * can be piped to where it is kept.
 */
export function addKeysCommand(program: Command, connection: Connection): void {
  const { withTarget, targetOf } = connection;
  const keys = program.command("keys").description("Manages the API keys of a running server.");
  const pathOf = (workspace: string) => `/workspaces/${encodeURIComponent(workspace)}/api-keys`;

  withTarget(keys.command("list <workspace>"))
    .description("Lists the keys of a workspace.")
    .action(async (workspace: string, options) => {
      const path = pathOf(workspace);
      const answer = await callAdmin<{ api_keys: ListedKey[] }>(targetOf(options), "GET", path);
      printLines(answer.api_keys.map(describeKey));
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
    .option("--overlap <duration>", OVERLAP, readDuration)
    .action((workspace: string, name: string, options) =>
      rotate(targetOf(options), pathOf(workspace), name, options),
    );

  withTarget(keys.command("revoke <workspace> <name>"))
    .description("Closes a key at once and for good.")
    .action((workspace: string, name: string, options) =>
      revoke(targetOf(options), pathOf(workspace), name, "API key"),
    );
}

/** Adds `rapport scim-tokens list|create|rotate|revoke`, which do the same for SCIM tokens. */
export function addScimTokensCommand(program: Command, connection: Connection): void {
  const { withTarget, targetOf } = connection;
  const path = "/scim-tokens";
  const tokens = program
    .command("scim-tokens")
    .description("Manages the SCIM tokens of a running server.");

  withTarget(tokens.command("list"))
    .description("Lists the tokens of the company.")
    .action(async (options) => {
      const target = targetOf(options);
      const answer = await callAdmin<{ scim_tokens: ListedToken[] }>(target, "GET", path);
      printLines(answer.scim_tokens.map(describeToken));
    });

  withTarget(tokens.command("create <name>"))
    .description("Makes a token and prints its secret, which is shown this once.")
    .requiredOption("--service-origin <origin>", "what X-Request-Origin has to say")
    .option("--no-require-origin", "for identity providers that cannot send that header")
    .action(async (name: string, options) => {
      const { serviceOrigin: service_origin, requireOrigin: require_origin } = options;
      await printSecret(targetOf(options), path, { name, service_origin, require_origin });
    });

  withTarget(tokens.command("rotate <name>"))
    .description("Gives a token a new secret and prints it; the older one stays good for a while.")
    .option("--overlap <duration>", OVERLAP, readDuration)
    .action((name: string, options) => rotate(targetOf(options), path, name, options));

  withTarget(tokens.command("revoke <name>"))
    .description("Closes a token at once and for good.")
    .action((name: string, options) => revoke(targetOf(options), path, name, "SCIM token"));
}

const OVERLAP = "such as 30m, 24h or 7d (default: 24h)";

const below = (path: string, name: string): string => `${path}/${encodeURIComponent(name)}`;

function rotate(
  target: AdminTarget,
  path: string,
  name: string,
  { overlap }: { readonly overlap?: number },
): Promise<void> {
  const body = overlap === undefined ? {} : { overlap_seconds: overlap };
  return printSecret(target, `${below(path, name)}/rotate`, body);
}

async function revoke(target: AdminTarget, path: string, name: string, noun: string) {
  await callAdmin(target, "DELETE", below(path, name));
  process.stderr.write(`The ${noun} ${name} is revoked.\n`);
}

interface Shown {
  readonly key?: string;
  readonly token?: string;
  readonly previous_key_until?: string;
  readonly previous_token_until?: string;
}

async function printSecret(target: AdminTarget, path: string, body: unknown): Promise<void> {
  const shown = await callAdmin<Shown>(target, "POST", path, body);
  process.stdout.write(`${shown.key ?? shown.token}\n`);
  const until = shown.previous_key_until ?? shown.previous_token_until;
  if (until) process.stderr.write(`The older secret is good until ${until}.\n`);
}

const printLines = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(""));

function describeKey(key: ListedKey): string {
  const parts = [key.name, `permissions ${key.permissions.join(",")}`];
  if (key.ip_allowlist.length > 0) parts.push(`from ${key.ip_allowlist.join(",")}`);
  return [...parts, ...describeLife(key, key.previous_key_until)].join("  ");
}

function describeToken(token: ListedToken): string {
  const origin = `${token.service_origin}${token.require_origin ? "" : " (not required)"}`;
  return [token.name, `origin ${origin}`, ...describeLife(token, token.previous_token_until)].join(
    "  ",
  );
}

function describeLife(each: Listed, olderUntil: string | null): string[] {
  const parts = [`created ${each.created_at}`, `last seen ${each.last_seen_at ?? "never"}`];
  if (olderUntil) parts.push(`older secret until ${olderUntil}`);
  if (each.revoked_at) parts.push(`revoked ${each.revoked_at}`);
  return parts;
}

const SECONDS_OF = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** `24h` as seconds. */
function readDuration(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (!count) throw new InvalidArgumentError("Write it as 30m, 24h or 7d.");
  return Number(count) * SECONDS_OF[unit as keyof typeof SECONDS_OF];
}
