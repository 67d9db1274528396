import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { type Database, withRetries } from "../../database/database.ts";
import { insertNames, lockNames, type NameKind, selectNames } from "./store.ts";

export type UsedNames = Readonly<Record<NameKind, Set<string>>>;

export type NewNames = Readonly<Record<NameKind, ReadonlySet<string>>>;

export type NameRegister = ReturnType<typeof createNameRegister>;

/** A reset by another process, which frees names, shows after this time. */
const KNOWN_FOR_MS = 60_000;

/** About 100 MB, if names are of ordinary length. */
const MOST_NAMES = 1_000_000;

const sizeOf = ({ attribute, event }: UsedNames): number => attribute.size + event.size + 1;

export function createNameRegister(database: Database, clock: Clock) {
  const cache = new LRUCache<number, { readonly names: UsedNames; readonly until: number }>({
    maxSize: MOST_NAMES,
    sizeCalculation: ({ names }) => sizeOf(names),
  });
  return {
    /** Undefined until they are read, and again after a minute. */
    known(workspaceId: number) {
      const entry = cache.get(workspaceId);
      return entry && entry.until > clock.elapsedMs() ? entry.names : undefined;
    },
    /** Adds new names as far as the quotas of the workspace allow. @returns all names. */
    async add(workspace: Workspace, names: NewNames) {
      const used = await withRetries(database, async (tx) => {
        await lockNames(tx, workspace.id);
        const present = usedNames(await selectNames(tx, workspace.id));
        const taken = take(workspace, present, names);
        for (const kind of KINDS) await insertNames(tx, workspace.id, kind, taken[kind]);
        return present;
      });
      cache.set(workspace.id, { names: used, until: clock.elapsedMs() + KNOWN_FOR_MS });
      return used;
    },
    async wouldAdd(workspace: Workspace, names: NewNames) {
      const present = usedNames(await selectNames(database, workspace.id));
      take(workspace, present, names);
      return present;
    },
  };
}

/** Adds new names to those that are present, as far as there is room. @returns those that were added. */
function take(workspace: Workspace, present: UsedNames, names: NewNames) {
  const taken: Record<NameKind, string[]> = { attribute: [], event: [] };
  for (const kind of KINDS) {
    const room = limitOf(workspace, kind) - present[kind].size;
    const added = [...names[kind]].filter((name) => !present[kind].has(name));
    taken[kind] = added.slice(0, Math.max(0, room));
    for (const name of taken[kind]) present[kind].add(name);
  }
  return taken;
}

const KINDS: readonly NameKind[] = ["attribute", "event"];

/** Settings stored by earlier versions have no quota. */
export const limitOf = ({ settings }: Workspace, kind: NameKind): number =>
  (kind === "attribute" ? settings.max_attribute_names : settings.max_event_names) ||
  Number.POSITIVE_INFINITY;

function usedNames(rows: readonly { readonly kind: NameKind; readonly name: string }[]): UsedNames {
  const names = { attribute: new Set<string>(), event: new Set<string>() };
  for (const { kind, name } of rows) names[kind].add(name);
  return names;
}
