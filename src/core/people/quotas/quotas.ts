import type { Clock } from "../../base/clock.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Fault } from "../../base/problem.ts";
import type { Database } from "../../database/database.ts";
import type { NameKind } from "./store.ts";
import {
  createNameRegister,
  limitOf,
  type NameRegister,
  type NewNames,
  type UsedNames,
} from "./used-names.ts";
import { createUserCount, type UserRoom } from "./user-count.ts";

/*
 * Limits of a workspace: distinct names of custom attributes and events, and users. A batch with cached
 * names needs no query. docs/decisions/quotas.md
 */

/** The attributes and events that an item of a track request names. */
export interface NamingItem {
  readonly work:
    | { readonly kind: "event"; readonly name: string }
    | { readonly kind: "purchase" }
    | {
        readonly kind: "attributes";
        readonly custom: readonly { readonly kind: string; readonly name: string }[];
      };
}

/** The quotas' verdicts on the items of one batch. */
export type BatchQuotas = Awaited<ReturnType<typeof prepare>>;

export interface Quotas {
  /** Undefined if nothing is refused. Waits for the database only for names that are new. */
  of(
    workspace: Workspace,
    items: readonly NamingItem[],
  ): BatchQuotas | undefined | Promise<BatchQuotas>;
  /** The same verdicts, for what is not written: new names take no room. */
  dryRun(): Quotas;
}

export function createQuotas(database: Database, clock: Clock): Quotas {
  const register = createNameRegister(database, clock);
  return quotasOf(register, createUserCount(database, clock));
}

function quotasOf(register: NameRegister, users: ReturnType<typeof createUserCount>): Quotas {
  return {
    of(workspace, items) {
      const isLimited = workspace.settings.max_users > 0;
      const known = register.known(workspace.id);
      if (!isLimited && known && items.every((item) => newName(known, item) === undefined)) {
        return undefined;
      }
      return prepare(register, workspace, items, isLimited ? users.room(workspace) : undefined);
    },
    dryRun: () => quotasOf({ ...register, add: register.wouldAdd }, users),
  };
}

async function prepare(
  register: NameRegister,
  workspace: Workspace,
  items: readonly NamingItem[],
  room: UserRoom | Promise<UserRoom> | undefined,
) {
  const known = register.known(workspace.id);
  const used =
    known && !mayAdd(workspace, known, items)
      ? known
      : await register.add(workspace, namesIn(items));
  const users = await room;
  return {
    refusalOf(item: NamingItem) {
      const name = newName(used, item);
      return name === undefined ? undefined : tooMany(workspace, kindOf(item), name);
    },
    /** Why another user is refused; otherwise counts the user. */
    refuseUser: () => (!users || users.take() ? undefined : tooManyUsers(workspace)),
  };
}

const kindOf = ({ work }: NamingItem): NameKind => (work.kind === "event" ? "event" : "attribute");

/** The first name of an item that the workspace has not used. Removing an attribute uses no name. */
function newName(used: UsedNames, { work }: NamingItem): string | undefined {
  if (work.kind === "purchase") return undefined;
  if (work.kind === "event") return used.event.has(work.name) ? undefined : work.name;
  for (const { kind, name } of work.custom) {
    if (kind !== "remove" && !used.attribute.has(name)) return name;
  }
  return undefined;
}

/** Whether a name is new and there is room for it, as far as this process knows. */
const mayAdd = (workspace: Workspace, used: UsedNames, items: readonly NamingItem[]): boolean =>
  items.some(
    (item) =>
      used[kindOf(item)].size < limitOf(workspace, kindOf(item)) &&
      newName(used, item) !== undefined,
  );

function namesIn(items: readonly NamingItem[]): NewNames {
  const names = { attribute: new Set<string>(), event: new Set<string>() };
  for (const { work } of items) {
    if (work.kind === "event") names.event.add(work.name);
    if (work.kind !== "attributes") continue;
    for (const { kind, name } of work.custom) if (kind !== "remove") names.attribute.add(name);
  }
  return names;
}

function tooMany({ settings }: Workspace, kind: NameKind, name: string): Fault {
  const isNew = `'${name.slice(0, 100)}' is a new name, and the workspace already has `;
  if (kind === "event") {
    const message = `${isNew}${settings.max_event_names} names of events, its 'max_event_names'`;
    return { code: "EVENT_QUOTA_EXCEEDED", message };
  }
  const most = settings.max_attribute_names;
  const message = `${isNew}${most} names of custom attributes, its 'max_attribute_names'`;
  return { code: "ATTRIBUTE_QUOTA_EXCEEDED", message };
}

const tooManyUsers = ({ settings }: Workspace): Fault => ({
  code: "USER_QUOTA_EXCEEDED",
  message: `the workspace already has ${settings.max_users} users, its 'max_users'`,
});
