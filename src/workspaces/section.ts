import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import type { Transaction } from "../database/database.ts";

/** Something that applying a manifest did. Never holds a secret. */
export interface Change {
  readonly action: "created" | "updated" | "removed";
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  /** What it is now, where that is worth a line in the audit. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

export interface SectionTarget {
  readonly workspaceId: number;
  readonly workspaceName: string;
  readonly now: Date;
  newId(): string;
}

/**
 * One list of a workspace in the manifest, with how it is applied. A list that is there is the
 * whole truth about what manifests declared; one that is absent leaves everything as it is.
 */
export interface Section {
  /** Its name in the manifest, such as `subscription_groups`. */
  readonly key: string;
  /** What one entry looks like. */
  readonly schema: TSchema;
  /** The member that must be different in every entry. */
  readonly identity: string;
  apply(tx: Transaction, target: SectionTarget, entries: readonly never[]): Promise<Change[]>;
}

/** What must be done so that `present` becomes `wanted`: by identity, unchanged entries left out. */
export function difference<Entry>(
  present: readonly Entry[],
  wanted: readonly Entry[],
  identity: (entry: Entry) => string,
): { created: Entry[]; updated: Entry[]; removed: Entry[] } {
  const before = new Map(present.map((entry) => [identity(entry), entry]));
  const after = new Set(wanted.map(identity));
  return {
    created: wanted.filter((entry) => !before.has(identity(entry))),
    updated: wanted.filter((entry) => {
      const old = before.get(identity(entry));
      return old !== undefined && !isDeepStrictEqual(old, entry);
    }),
    removed: present.filter((entry) => !after.has(identity(entry))),
  };
}

/** The changes of one kind, in the words of the answer. */
export function describe<Entry>(
  kind: string,
  workspace: string,
  done: { created: Entry[]; updated: Entry[]; removed: Entry[] },
  name: (entry: Entry) => string,
  details?: (entry: Entry) => Change["details"],
): Change[] {
  return (["created", "updated", "removed"] as const).flatMap((action) =>
    done[action].map((entry) => ({
      action,
      kind,
      workspace,
      name: name(entry),
      ...(details && action !== "removed" && { details: details(entry) }),
    })),
  );
}
