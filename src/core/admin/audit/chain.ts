import type { Context } from "../../base/context/context.ts";
import { sha256 } from "../../base/values/hashes.ts";

/*
 * Every audit row has a hash over its content and the hash of the row before it, so that a row that is
 * changed, removed or inserted later breaks the chain. docs/decisions/audit-chain.md
 */

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

export interface Head {
  /** The position of the last row, counted from 1. */
  readonly entries: number;
  readonly hash: string;
  /** The rows from before there was a chain, which every later row covers. */
  readonly unchained: Unchained;
}

export interface Unchained {
  readonly rows: number;
  /** The hash of their content (store.ts). */
  readonly hash: string;
}

export type UnchainedEntry = Omit<StoredEntry, "position" | "hash">;

export type ChainedEntry = UnchainedEntry & { readonly position: number; readonly hash: string };

export function chainTo(head: Head, entries: readonly UnchainedEntry[]): ChainedEntry[] {
  let { entries: position, hash } = head;
  return entries.map((entry) => {
    position += 1;
    hash = hashOf(hash, position, head.unchained, entry);
    return { ...entry, position, hash };
  });
}

/** The SHA-256, in hexadecimal, of one form of a row's content; changing that form breaks every chain. */
function hashOf(
  before: string,
  position: number,
  unchained: Unchained,
  entry: UnchainedEntry,
): string {
  const content = [
    "rapport audit 2",
    before,
    position,
    unchained.rows,
    unchained.hash,
    ...partsOf(entry, entry.details),
  ];
  return sha256(canonical(content));
}

/** The form of earlier versions: an object in it looks like the list of its members. */
function earlierHashOf(before: string, position: number, entry: UnchainedEntry): string {
  const parts = partsOf(entry, asLists(entry.details));
  return sha256(JSON.stringify(["rapport audit 1", before, position, ...parts]));
}

const partsOf = (entry: UnchainedEntry, details: unknown) => [
  entry.id,
  entry.at.toISOString(),
  entry.workspace,
  entry.action,
  entry.kind,
  entry.name,
  details,
  entry.actor,
  entry.actorName,
  entry.call,
  entry.requestId,
  entry.address,
];

/**
 * Whether a row is unchanged after the row with a hash. Its hash may have either form: no row can
 * be constructed whose hash in one form equals another row's hash in the other form.
 */
export function isAsWritten(
  before: string,
  position: number,
  unchained: Unchained,
  row: ChainedEntry,
): boolean {
  try {
    const hasForm = row.details === null || !Array.isArray(row.details);
    const { hash } = row;
    return (
      hasForm &&
      (hash === hashOf(before, position, unchained, row) ||
        hash === earlierHashOf(before, position, row))
    );
  } catch {
    // A time that is none, or details nested deeper than any that are written.
    return false;
  }
}

/** JSON with the members of objects in a fixed order: each engine stores them in its own. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`;
}

function asLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asLists);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, asLists(member)] as const);
  return members.sort(([one], [other]) => (one < other ? -1 : 1));
}
