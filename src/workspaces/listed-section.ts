import type { TSchema } from "typebox";
import type { Queryable, Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { refuseDuplicates } from "./manifest.ts";
import {
  type Change,
  type CompanyTarget,
  describe,
  difference,
  type Entry,
  type Section,
  type SectionTarget,
  workspaceNameOf,
} from "./section.ts";

/** Whether a manifest made it. */
export interface Declared {
  readonly declared: boolean;
}

/** A section that is a list of things with no more to them than their members. */
export interface Listed<Item extends Entry, Where extends SectionTarget | CompanyTarget> {
  readonly key: string;
  readonly about: string;
  readonly schema: TSchema;
  /** The member by which an entry is found again. */
  readonly identity: keyof Item & string;
  /** Another member that must be different in every entry. */
  readonly unique?: keyof Item & string;
  /** What one of them is called: `subscription_group`. */
  readonly kind: string;
  nameOf(item: Item): string;
  /** An entry with what its declaration may leave out; `known` is what is there under its name. */
  complete?(entry: Entry, known: Item | undefined, target: Where): Item;
  select(database: Queryable, target: Where): Promise<readonly (Item & Declared)[]>;
  /** Makes or changes them. */
  save(tx: Transaction, target: Where, items: readonly (Item & Declared)[]): Promise<void>;
  remove(tx: Transaction, target: Where, items: readonly Item[]): Promise<void>;
}

/** Such a section, as a manifest applies it and the admin API changes it entry by entry. */
export function listedSection<Item extends Entry, Where extends SectionTarget | CompanyTarget>(
  listed: Listed<Item, Where>,
): Section<Where> {
  const { key, about, schema, identity, kind, nameOf } = listed;

  const idOf = (item: Entry): string => String(item[identity]);

  const complete = (entry: Entry, present: readonly Item[], target: Where): Item => {
    const known = present.find((each) => idOf(each) === idOf(entry));
    return listed.complete?.(entry, known, target) ?? (entry as Item);
  };

  const told = (target: Where, done: Parameters<typeof describe<Item>>[2]): Change[] =>
    describe(kind, workspaceNameOf(target), done, nameOf, (item) => item);

  return {
    key,
    about,
    schema,
    identity,
    async apply(tx, target, entries: readonly Entry[]) {
      const all = await listed.select(tx, target);
      const wanted = entries.map((entry) => complete(entry, all, target));
      if (listed.unique) refuseDuplicates(wanted, listed.unique, [key]);
      const present = all.filter((item) => item.declared).map(withoutFlag<Item>);
      const todo = difference(present, wanted, idOf);
      const kept = all.filter((item) => !item.declared);
      refuseTaken(listed, wanted, kept, idOf);
      await listed.remove(tx, target, todo.removed);
      const changed = [...todo.created, ...todo.updated];
      await listed.save(
        tx,
        target,
        changed.map((item) => ({ ...item, declared: true })),
      );
      return told(target, todo);
    },
    resource: {
      read: (database, target) => listed.select(database, target),
      async put(tx, target, entry) {
        const all = await listed.select(tx, target);
        const wanted = complete(entry, all, target);
        const present = all.filter((item) => idOf(item) === idOf(wanted));
        refuseTaken(listed, [wanted], all, idOf);
        const todo = difference(present.map(withoutFlag<Item>), [wanted], idOf);
        const declared = present.some((item) => item.declared);
        const changed = [...todo.created, ...todo.updated];
        await listed.save(
          tx,
          target,
          changed.map((item) => ({ ...item, declared })),
        );
        return told(target, todo);
      },
      async remove(tx, target, entry) {
        const item = withoutFlag(entry as Item & Declared);
        await listed.remove(tx, target, [item]);
        return told(target, { created: [], updated: [], removed: [item] });
      },
    },
  };
}

const withoutFlag = <Item>({ declared: _declared, ...item }: Item & Declared): Item =>
  item as unknown as Item;

/** @throws Problem CONFLICT where another entry, which stays, has the unique member already. */
function refuseTaken<Item extends Entry, Where extends SectionTarget | CompanyTarget>(
  { unique, kind }: Listed<Item, Where>,
  wanted: readonly Item[],
  others: readonly Item[],
  idOf: (item: Item) => string,
): void {
  if (unique === undefined) return;
  const ownIds = new Set(wanted.map(idOf));
  const staying = others.filter((item) => !ownIds.has(idOf(item)));
  const taken = new Set(staying.map((item) => item[unique]));
  const refused = wanted.find((item) => taken.has(item[unique]));
  if (!refused) return;
  const noun = kind.replaceAll("_", " ");
  throw new Problem("CONFLICT", `Another ${noun} has the ${unique} '${refused[unique]}' already.`);
}
