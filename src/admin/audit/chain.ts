import type { Context } from "../../base/context/context.ts";
import { sha256 } from "../../base/values/hashes.ts";

/*
 * Every audit row has a hash over its content and the hash of the row before it, so that a row that is
 * changed, removed or inserted later breaks the chain. docs/decisions/audit-chain.md
 */

/** A row of the audit. */
export interface StoredEntry {
  readonly id: string;
  readonly at: Date;
  readonly workspace: string | null;
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly actor: Context["actor"];
  readonly actorName: string | null;
  readonly call: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
  /** Its place in the chain, counted from 1; null for rows from before there was one. */
  readonly position: number | null;
  readonly hash: string | null;
}

/** The end of the chain. */
export interface Head {
  /** The position of the last row, counted from 1. */
  readonly entries: number;
  readonly hash: string;
}

export type UnchainedEntry = Omit<StoredEntry, "position" | "hash">;

export type ChainedEntry = UnchainedEntry & {
  readonly position: number;
  readonly hash: string;
};

/** Continues the chain behind a head with new rows. */
export function chainTo(head: Head, entries: readonly UnchainedEntry[]): ChainedEntry[] {
  let { entries: position, hash } = head;
  return entries.map((entry) => {
    position += 1;
    hash = hashOf(hash, position, entry);
    return { ...entry, position, hash };
  });
}

/** The SHA-256, in hexadecimal, of one form of a row's content; changing that form breaks every chain. */
export function hashOf(before: string, position: number, entry: UnchainedEntry): string {
  const content = [
    "rapport audit 1",
    before,
    position,
    entry.id,
    entry.at.toISOString(),
    entry.workspace,
    entry.action,
    entry.kind,
    entry.name,
    inOneOrder(entry.details),
    entry.actor,
    entry.actorName,
    entry.call,
    entry.requestId,
    entry.address,
  ];
  return sha256(JSON.stringify(content));
}

/** The engines store the members of an object in an order of their own. */
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, inOneOrder(member)] as const);
  return members.sort(([one], [other]) => (one < other ? -1 : 1));
}
