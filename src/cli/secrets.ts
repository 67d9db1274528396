import { InvalidArgumentError } from "commander";
import { type AdminTarget, callAdmin } from "./admin-client.ts";

/* What the commands for API keys and for SCIM tokens have in common. */

/** What the server lists of an API key or a SCIM token, whatever it grants. */
export interface Listed {
  readonly name: string;
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly revoked_at: string | null;
}

export const OVERLAP = "such as 30m, 24h or 7d (default: 24h)";

const below = (path: string, name: string): string => `${path}/${encodeURIComponent(name)}`;

export function rotate(
  target: AdminTarget,
  path: string,
  name: string,
  { overlap }: { readonly overlap?: number },
): Promise<void> {
  const body = overlap === undefined ? {} : { overlap_seconds: overlap };
  return printSecret(target, `${below(path, name)}/rotate`, body);
}

export async function revoke(target: AdminTarget, path: string, name: string, noun: string) {
  await callAdmin(target, "DELETE", below(path, name));
  process.stderr.write(`The ${noun} ${name} is revoked.\n`);
}

interface Shown {
  readonly key?: string;
  readonly token?: string;
  readonly previous_key_until?: string;
  readonly previous_token_until?: string;
}

export async function printSecret(target: AdminTarget, path: string, body: unknown): Promise<void> {
  const shown = await callAdmin<Shown>(target, "POST", path, body);
  process.stdout.write(`${shown.key ?? shown.token}\n`);
  const until = shown.previous_key_until ?? shown.previous_token_until;
  if (until) process.stderr.write(`The older secret is good until ${until}.\n`);
}

export const printLines = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(""));

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
