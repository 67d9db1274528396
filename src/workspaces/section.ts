import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import type { Queryable, Transaction } from "../database/database.ts";

/** Something that applying a manifest did. Never holds a secret. */
export interface Change {
  readonly action: "created" | "updated" | "removed";
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  /** What it is now, where that is worth a line in the audit. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** What every section is applied with. */
export interface Target {
  readonly now: Date;
  newId(): string;
}

export interface SectionTarget extends Target {
  readonly workspaceId: number;
  readonly workspaceName: string;
}

/** Empty for what belongs to the company. */
export const workspaceNameOf = (target: SectionTarget | CompanyTarget): string =>
  "workspaceName" in target ? target.workspaceName : "";

export interface CompanyTarget extends Target {
  readonly companyId: string;
}

/**
 * One part of a workspace or of the company in the manifest, with how it is applied: a list, or one
 * value. What is there is the whole truth about what manifests declared; what is absent leaves
 * everything as it is.
 */
export interface Section<Where extends Target = SectionTarget> {
  /** Its name in the manifest, such as `subscription_groups`. */
  readonly key: string;
  /** What a list is, in the words that an editor shows beside it; a value's schema says it itself. */
  readonly about?: string;
  /** What one entry looks like; where there is no `identity`, what the one value looks like. */
  readonly schema: TSchema;
  /** The member that must be different in every entry. Absent: the section is no list. */
  readonly identity?: string;
  /** @throws Problem with the place in the workspace as `path`, so that the line is found. */
  apply(tx: Transaction, target: Where, declared: never): Promise<Change[]>;
  /** How it is administered; absent where the facility has endpoints of its own for that. */
  readonly resource?: Resource<Where>;
}

/** An entry as the section's schema writes it, or the one value of a section that is no list. */
export type Entry = Readonly<Record<string, unknown>>;

/**
 * How the admin API reads and changes a section, one entry at a time: its endpoints follow from that
 * (`section-endpoints.ts`). What a manifest declared stays declared: the next one that is applied has
 * the last word on it. What was made one at a time stays until it is removed one at a time.
 */
export interface Resource<Where extends Target = SectionTarget> {
  /** All entries, each with `declared`; where the section is no list, its one value. */
  read(database: Queryable, target: Where): Promise<readonly Entry[]>;
  /** Makes an entry or changes it. @throws Problem */
  put(tx: Transaction, target: Where, entry: Entry): Promise<Change[]>;
  /** Removes an entry that is there; absent where there is none to remove. */
  remove?(tx: Transaction, target: Where, entry: Entry): Promise<Change[]>;
}

/** Applied after all workspaces, because it may name what they declare. */
export type CompanySection = Section<CompanyTarget>;

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

/** The changes of one kind, in the words of the answer; the company's have no workspace. */
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
