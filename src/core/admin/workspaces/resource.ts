import { isDeepStrictEqual } from "node:util";
import type { TProperties, TSchema } from "typebox";
import type { Clock } from "../../base/clock.ts";
import type { Context, WorkspaceContext } from "../../base/context/context.ts";
import type {
  CompanyPermission,
  WorkspacePermission,
} from "../../base/context/dashboard-permissions.ts";
import type { ThreadPool } from "../../base/threads/thread-pool.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import type { Outbound } from "../../outbound/outbound.ts";
import type { Sealing } from "../secrets/sealing.ts";

/*
 * A resource is something that administrators manage: the apps of a workspace, its settings, the
 * permission sets of the company. Everything about it follows from one description: its part of the
 * manifest and of the JSON Schema, its endpoints below /admin/v1, and its rows in the audit log.
 */

/** A change to a resource. Never contains a secret. */
export interface ConfigChange {
  readonly action: "created" | "updated" | "removed";
  readonly kind: string;
  /** Empty for resources of the company. */
  readonly workspace: string;
  readonly name: string;
  /** The new state, as far as the audit log records it. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The state before an update, likewise. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  /** The fields that an update changes, in a preview. Secrets are hidden. */
  readonly fields?: readonly FieldChange[];
}

export interface FieldChange {
  /** Such as `settings.time_zone`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** For checks that would block the event loop. */
export interface SlowChecks {
  readonly threads: ThreadPool;
  readonly outbound: Outbound;
  /** Whether hosts that cannot be resolved are refused: the caller may not know which exist. */
  readonly mustResolve?: boolean;
}

/** Tells which addresses are user names of active dashboard users. */
export interface Colleagues {
  colleaguesAmong(
    database: Queryable,
    companyId: string,
    addresses: readonly string[],
  ): Promise<ReadonlySet<string>>;
}

/** Names of things that are gone, or are new. */
export interface FreeNames {
  readonly kind: "workspace" | "permission_set";
  readonly names: readonly string[];
}

/** Removes what mentions names, before something new takes them: otherwise people would have permissions by it that nobody gave. */
export type NameEraser = (tx: Transaction, free: FreeNames, now: Date) => Promise<unknown>;

export interface ResourceServices extends Colleagues {
  readonly nameErasers: readonly NameEraser[];
  readonly clock: Clock;
  readonly sealing: Sealing;
  /** The minimum length of a declared key or token, in characters. */
  readonly shortestSecret: number;
  /** The hashes of the admin tokens that work: no declared key or token may be one of them. */
  readonly adminTokenHashes: readonly string[];
  /** The resources of a workspace; a new one starts with their defaults. */
  readonly resources: readonly Resource[];
  /** Reports, in a sentence, a difference that this manifest leaves as it is. */
  readonly note?: (sentence: string) => void;
}

/** An entry as the schema of its resource describes it, or the value of a resource that is no list. */
export type Entry = Readonly<Record<string, unknown>>;

export interface DeclarationSource {
  readonly sealing: Sealing;
  /** A variable in the place of a secret, named after these words. */
  secret(...words: readonly string[]): string;
}

/** The secrets that PUT would need again, or keep, and what they may be sent to or used for. */
export interface KeptSecrets {
  /** The members with a secret that is stored. */
  readonly secrets: readonly string[];
  /** If one of these members changes, stored secrets are not used with the new value. */
  readonly destination: readonly string[];
  /** What of a value says it, if not all of it does. */
  partOf?(member: string, value: unknown): unknown;
}

export interface ResourcePermissions {
  readonly read: CompanyPermission | WorkspacePermission;
  readonly write: CompanyPermission | WorkspacePermission;
}

interface Described {
  /** Its name in the manifest and in replies, such as `subscription_groups`. */
  readonly key: string;
  /** The description of the list in the JSON Schema; a single value's schema has its own. */
  readonly about?: string;
  /** One entry; without `identity`, the one value. */
  readonly schema: TSchema;
  /** The member that is unique among the entries. Absent: the resource is one value, not a list. */
  readonly identity?: string;
  /**
   * Runs checks that are too slow for a transaction, before it begins.
   *
   * @param workspaceName empty for a resource of the company.
   * @throws Problem as `apply` does.
   */
  check?(services: SlowChecks, workspaceName: string, declared: never): Promise<void>;
}

/**
 * A part of the manifest: a list, or one value. It replaces what earlier manifests declared; if it
 * is absent, nothing changes.
 */
interface Declarable<Where extends Context> extends Described {
  /**
   * For a resource of the company: whether it is applied before the workspaces, because they refer
   * to it.
   */
  readonly isFirst?: boolean;
  /** @throws Problem with the `path` of the fault below the owner of the resource. */
  apply(
    tx: Transaction,
    services: ResourceServices,
    context: Where,
    declared: never,
  ): Promise<ConfigChange[]>;
  /**
   * The declaration of the present state, however it was created; undefined if there is nothing to declare.
   *
   * @param from replaces secrets by variables: see `export-manifest.ts`.
   */
  declaration(database: Queryable, from: DeclarationSource, context: Where): Promise<unknown>;
  /** Creates the defaults of a new workspace that does not declare this resource. */
  begin?(tx: Transaction, services: ResourceServices, context: Where): Promise<ConfigChange[]>;
}

/**
 * The state that the admin API reads and changes, one entry at a time; `resource-endpoints.ts`
 * builds the endpoints. A declared entry stays declared, so the next manifest overrides the change.
 * An entry that was created this way stays until it is removed this way.
 */
export interface Editable<Where extends Context> extends Described {
  /** The name of the path parameter with the identity; `id` by default. */
  readonly parameter?: string;
  /** The permission that a signed-in person needs; see docs/dashboard.md. */
  readonly permissions: ResourcePermissions;
  /** The body of PUT; by default the schema, of a list without the identity. */
  readonly body?: TSchema;
  /** A body of PATCH to show in the documentation; by default one is derived. */
  readonly patchExample?: Entry;
  /** The members of an entry in replies; by default the members of the schema and `declared`. */
  readonly view?: TProperties;
  /** All entries, or the one value. */
  read(database: Queryable, context: Where): Promise<readonly Entry[]>;
  /**
   * Creates or changes an entry; the same again makes no change.
   *
   * @param patch the members that a PATCH sent; the entry holds them already.
   * @throws Problem
   */
  put(
    tx: Transaction,
    services: ResourceServices,
    context: Where,
    entry: Entry,
    patch?: Entry,
  ): Promise<ConfigChange[]>;
  /**
   * The body of PUT that would change nothing, which PATCH starts from; by default the members of `shown` that PUT takes.
   *
   * @param shown the entry as `read` returns it.
   */
  present?(
    database: Queryable,
    services: ResourceServices,
    context: Where,
    shown: Entry,
  ): Entry | Promise<Entry>;
  /** The secrets that are stored with an entry, and where they belong. */
  keptSecrets?(present: Entry): KeptSecrets;
  /** Removes an existing entry. Absent if entries cannot be removed. */
  remove?(
    tx: Transaction,
    services: ResourceServices,
    context: Where,
    entry: Entry,
  ): Promise<ConfigChange[]>;
}

/**
 * A resource of every workspace, or of the company; not editable if its feature has its own
 * endpoints.
 */
export type Resource<Where extends Context = WorkspaceContext> = Declarable<Where> &
  Partial<Editable<Where>>;

export type MaybeEditable = Described & Partial<Editable<Context>>;

/**
 * Whether the resource engine provides the endpoints of a resource; otherwise its feature has its
 * own.
 */
export const isEditable = (resource: MaybeEditable): resource is Editable<Context> =>
  resource.read !== undefined;

interface Difference<Entry> {
  created: Entry[];
  updated: Entry[];
  removed: Entry[];
  /** The present state of an updated entry. */
  before?(entry: Entry): Entry | undefined;
}

/** The changes that turn `present` into `wanted`, matched by identity; unchanged entries are omitted. */
export function difference<Entry>(
  present: readonly Entry[],
  wanted: readonly Entry[],
  identity: (entry: Entry) => string,
): Difference<Entry> {
  const before = new Map(present.map((entry) => [identity(entry), entry]));
  const after = new Set(wanted.map(identity));
  return {
    created: wanted.filter((entry) => !before.has(identity(entry))),
    updated: wanted.filter((entry) => {
      const old = before.get(identity(entry));
      return old !== undefined && !isDeepStrictEqual(old, entry);
    }),
    removed: present.filter((entry) => !after.has(identity(entry))),
    before: (entry) => before.get(identity(entry)),
  };
}

/** The changes of one kind as replies and the audit log report them. */
export function describe<Entry>(
  kind: string,
  workspace: string,
  done: Difference<Entry>,
  name: (entry: Entry) => string,
  details?: (entry: Entry) => ConfigChange["details"],
): ConfigChange[] {
  return (["created", "updated", "removed"] as const).flatMap((action) =>
    done[action].map((entry) => {
      const before = action === "updated" ? done.before?.(entry) : undefined;
      return {
        action,
        kind,
        workspace,
        name: name(entry),
        ...(details && action !== "removed" && { details: details(entry) }),
        ...(details && before && { before: details(before) }),
      };
    }),
  );
}
