import { InvalidArgumentError } from "commander";
import { callAdmin, type Reply } from "./admin-client.ts";
import { type TargetOptions, targetOf } from "./target.ts";
import {
  type ConfirmOptions,
  confirm,
  printJson,
  printNote,
  printResult,
  printText,
} from "./terminal.ts";

/* Common parts of the commands for API keys and for SCIM tokens. */

/** A listed API key or SCIM token, without its grants. */
export interface Listed {
  readonly name: string;
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly revoked_at: string | null;
}

export const OVERLAP = "such as 30m, 24h or 7d (default: 24h)";

const below = (path: string, name: string): string => `${path}/${encodeURIComponent(name)}`;

/** Gives a key or token a new secret and prints it. */
export function rotate(
  options: TargetOptions & { readonly overlap?: number },
  path: string,
  name: string,
): Promise<void> {
  const { overlap } = options;
  const body = overlap === undefined ? {} : { overlap_seconds: overlap };
  return printSecret(options, `${below(path, name)}/rotate`, body);
}

/** Asks, then revokes a key or token. */
export async function revoke(
  options: TargetOptions & ConfirmOptions,
  path: string,
  name: string,
  noun: string,
) {
  const target = targetOf(options);
  await confirm(`The ${noun} '${name}' stops working and cannot be restored.`, options);
  const answer = await callAdmin<object>(target, "DELETE", below(path, name));
  if (options.json) printJson(answer);
  else printNote(`The ${noun} ${name} is revoked.`);
}

/** Calls a path that returns a secret, and prints only the secret to the standard output. */
export async function printSecret(
  options: TargetOptions,
  path: string,
  body: unknown,
): Promise<void> {
  const shown = await callAdmin<Partial<Reply<"rotateApiKey"> & Reply<"rotateScimToken">>>(
    targetOf(options),
    "POST",
    path,
    body,
  );
  if (options.json) return printJson(shown);
  printText(`${shown.key ?? shown.token}\n`);
  const until = shown.previous_key_until ?? shown.previous_token_until;
  if (until) printNote(`The older secret works until ${until}.`);
}

/** Prints a list as lines, or as the server sent it. */
export async function printListed<Entry extends Listed>(
  options: TargetOptions,
  path: string,
  key: string,
  describe: (entry: Entry) => string,
): Promise<void> {
  const answer = await callAdmin<Record<string, Entry[]>>(targetOf(options), "GET", path);
  printResult(options, answer, () => (answer[key] ?? []).map(describe));
}

/** When a key or token was created, last used, rotated and revoked, in words. */
export function describeLife(each: Listed, olderUntil: string | null): string[] {
  const parts = [`created ${each.created_at}`, `last seen ${each.last_seen_at ?? "never"}`];
  if (olderUntil) parts.push(`older secret until ${olderUntil}`);
  if (each.revoked_at) parts.push(`revoked ${each.revoked_at}`);
  return parts;
}

const SECONDS_OF = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** `24h` as seconds. */
export function readDuration(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (!count) throw new InvalidArgumentError("Write it as 30m, 24h or 7d.");
  return Number(count) * SECONDS_OF[unit as keyof typeof SECONDS_OF];
}
