import type { TSchema } from "typebox";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { refuseDuplicates } from "./manifest.ts";
import { nounOf, refuseGrowth } from "./most-entries.ts";
import {
  type ConfigChange,
  describe,
  difference,
  type Editable,
  type Entry,
  type Resource,
  type ResourcePermissions,
  type ResourceServices,
} from "./resource.ts";

export interface Declared {
  /** Whether a manifest declared it. */
  readonly declared: boolean;
}

/** A list whose entries are stored as declared. */
export interface Listed<Item extends Entry, Where extends Context> {
  readonly key: string;
  readonly about: string;
  readonly schema: TSchema;
  readonly identity: keyof Item & string;
  /** Another member that is unique among the entries. */
  readonly unique?: keyof Item & string;
  /** Its values are equal if their forms are. */
  formOfUnique?(value: string): string;
  /** The name of one entry in the audit log, such as `subscription_group`. */
  readonly kind: string;
  readonly permissions: ResourcePermissions;
  /** How many entries there may be; by default `MOST_ENTRIES`. */
  readonly most?: number;
  nameOf(item: Item): string;
  /** Fills in members that a declaration omits; `known` is the present entry of this identity. */
  complete?(entry: Entry, known: Item | undefined, services: ResourceServices): Item;
  select(database: Queryable, context: Where): Promise<readonly (Item & Declared)[]>;
  save(
    tx: Transaction,
    context: Where,
    items: readonly (Item & Declared)[],
    services: ResourceServices,
  ): Promise<unknown>;
  remove(tx: Transaction, context: Where, items: readonly Item[]): Promise<unknown>;
}

/** The resource for such a list: applied from a manifest, and changed entry by entry. */
export function listedResource<Item extends Entry, Where extends Context>(
  listed: Listed<Item, Where>,
): Resource<Where> & Editable<Where> {
  const { key, about, schema, identity, kind, permissions, nameOf } = listed;

  const idOf = (item: Entry): string => String(item[identity]);

  /**
   * @throws Problem INVALID_REQUEST; the members filled in by `complete` may repeat what the
   * manifest did not.
   */
  const refuseRepeated = (wanted: readonly Item[]): void => {
    refuseDuplicates(wanted, identity, [key]);
    const { unique } = listed;
    if (unique === undefined) return;
    const forms = wanted.map((item) => ({ [unique]: uniqueOf(listed, item) }));
    refuseDuplicates(forms, unique, [key]);
  };

  const complete = (entry: Entry, present: readonly Item[], services: ResourceServices): Item => {
    const known = present.find((each) => idOf(each) === idOf(entry));
    return listed.complete?.(entry, known, services) ?? (entry as Item);
  };

  const refuseTooMany = (context: Where, before: number, after: number): void => {
    const owner = "workspace" in context ? "workspace" : "company";
    const { most } = listed;
    refuseGrowth({ owner, noun: nounOf(key), ...(most && { most }) }, before, after);
  };

  const changesOf = (context: Where, done: Parameters<typeof describe<Item>>[2]): ConfigChange[] =>
    describe(kind, workspaceNameOf(context), done, nameOf, (item) => item);

  return {
    key,
    about,
    schema,
    identity,
    permissions,
    async apply(tx, services, context, entries: readonly Entry[]) {
      const all = await listed.select(tx, context);
      const wanted = entries.map((entry) => complete(entry, all, services));
      refuseRepeated(wanted);
      const present = all.filter((item) => item.declared).map(withoutFlag<Item>);
      const diff = difference(present, wanted, idOf);
      const kept = all.filter((item) => !item.declared);
      refuseTaken(listed, wanted, kept, idOf);
      const ids = new Set([...kept, ...wanted].map(idOf));
      refuseTooMany(context, all.length, ids.size);
      await listed.remove(tx, context, diff.removed);
      const changed = [...diff.created, ...diff.updated];
      await listed.save(tx, context, withFlag(changed, true), services);
      return changesOf(context, diff);
    },
    read: (database, context) => listed.select(database, context),
    declaration: async (database, _from, context) =>
      (await listed.select(database, context)).map(withoutFlag<Item>),
    async put(tx, services, context, entry) {
      const all = await listed.select(tx, context);
      const wanted = complete(entry, all, services);
      const present = all.filter((item) => idOf(item) === idOf(wanted));
      refuseTaken(listed, [wanted], all, idOf);
      const diff = difference(present.map(withoutFlag<Item>), [wanted], idOf);
      refuseTooMany(context, all.length, all.length + diff.created.length);
      const declared = present.some((item) => item.declared);
      const changed = withFlag([...diff.created, ...diff.updated], declared);
      await listed.save(tx, context, changed, services);
      return changesOf(context, diff);
    },
    async remove(tx, _services, context, entry) {
      const item = withoutFlag(entry as Item & Declared);
      await listed.remove(tx, context, [item]);
      return changesOf(context, { created: [], updated: [], removed: [item] });
    },
  };
}

/** Empty for resources of the company. */
const workspaceNameOf = (context: Context & { readonly workspace?: { readonly name: string } }) =>
  context.workspace?.name ?? "";

const withFlag = <Item>(items: readonly Item[], declared: boolean): (Item & Declared)[] =>
  items.map((item) => ({ ...item, declared }));

const withoutFlag = <Item>({ declared: _declared, ...item }: Item & Declared): Item =>
  item as unknown as Item;

function uniqueOf<Item extends Entry, Where extends Context>(
  { unique, formOfUnique }: Listed<Item, Where>,
  item: Item,
): string {
  const value = unique === undefined ? "" : String(item[unique]);
  return formOfUnique?.(value) ?? value;
}

/** @throws Problem CONFLICT if another entry, which stays, already has the unique member. */
function refuseTaken<Item extends Entry, Where extends Context>(
  listed: Listed<Item, Where>,
  wanted: readonly Item[],
  others: readonly Item[],
  idOf: (item: Item) => string,
): void {
  const { unique, kind } = listed;
  if (unique === undefined) return;
  const ownIds = new Set(wanted.map(idOf));
  const staying = others.filter((item) => !ownIds.has(idOf(item)));
  const taken = new Set(staying.map((item) => uniqueOf(listed, item)));
  const refused = wanted.find((item) => taken.has(uniqueOf(listed, item)));
  if (!refused) return;
  const noun = kind.replaceAll("_", " ");
  throw new Problem("CONFLICT", `Another ${noun} already has the ${unique} '${refused[unique]}'.`);
}
