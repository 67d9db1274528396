import { Problem } from "../../base/problem.ts";
import { groupBy } from "../../base/values/group-by.ts";
import type { Queryable } from "../../database/database.ts";
import { type HolderOrder, selectFirst, selectIdentifiers } from "../profiles/holders-store.ts";
import { identifierKey, type PersonIdentifier } from "../profiles/identifiers.ts";
import type { FoundIdentifier } from "../profiles/store.ts";
import type { Selector } from "./selectors.ts";

/*
 * Thousands of users may share an address, and a request about identities chooses one of them: it reads only
 * those whom it can mean. Every item changes at most two users, so of all who have an address the first few in
 * the order of its prioritization are enough.
 */

/** How many users the addresses of one request may match; only their ids are read. */
const MOST_MATCHES = 200_000;

/** Fewer users of one address are all read: the statement that chooses among them costs as much. */
const FEW_HOLDERS = 100;

export interface Naming {
  readonly names: readonly PersonIdentifier[];
  /** How it chooses among the users of its addresses; without it as `[]` does. */
  readonly chooses?: readonly Selector[];
}

/** The identifiers of users whom a request may mean. */
export interface Likely {
  readonly found: readonly FoundIdentifier[];
  /** The `identifierKey`s of addresses that more users have than were found. */
  readonly shared: ReadonlySet<string>;
}

/** @throws Problem INVALID_REQUEST if the addresses match too many users. */
export async function findLikely(
  database: Queryable,
  workspaceId: number,
  steps: readonly Naming[],
): Promise<Likely> {
  const names = steps.flatMap((step) => step.names);
  const wanted = new Set(names.map(identifierKey));
  const values = names.flatMap(({ kind, value }) => (kind === "platform_id" ? [] : [value]));
  const limit = MOST_MATCHES + 1;
  const rows = await selectIdentifiers(database, workspaceId, [...new Set(values)], limit);
  if (rows.length > MOST_MATCHES) {
    throw new Problem(
      "INVALID_REQUEST",
      `The identifiers of this request match more than ${MOST_MATCHES} users. ` +
        "Name fewer addresses in one request, or name the users by 'external_id' or 'user_alias'.",
    );
  }
  const found = rows.filter((row) => wanted.has(identifierKey(row)));
  const idsOf = new Map(
    [...groupBy(found, identifierKey)].map(([key, rows]) => [
      key,
      rows.map((row) => row.profileId),
    ]),
  );
  const shared = new Set(
    [...idsOf].flatMap(([key, { length }]) => (length > FEW_HOLDERS ? key : [])),
  );
  if (shared.size === 0) return { found, shared };
  return {
    found: await onlyLikely(database, workspaceId, { steps, found, idsOf, shared }),
    shared,
  };
}

interface Holders {
  readonly steps: readonly Naming[];
  readonly found: readonly FoundIdentifier[];
  readonly idsOf: ReadonlyMap<string, readonly string[]>;
  readonly shared: Set<string>;
}

async function onlyLikely(
  database: Queryable,
  workspaceId: number,
  { steps, found, idsOf, shared }: Holders,
): Promise<FoundIdentifier[]> {
  const likely = new Set<string>();
  for (const [key, ids] of idsOf) if (!shared.has(key)) for (const id of ids) likely.add(id);
  const stepsAt = countSteps(steps, idsOf);
  for (const [key, orders] of ordersOf(steps, shared)) {
    const ids = idsOf.get(key) ?? [];
    const count = 1 + 2 * (stepsAt.get(key) ?? 0);
    for (const order of orders.values()) {
      for (const id of await selectFirst(database, workspaceId, ids, order, count)) {
        likely.add(id);
      }
    }
  }
  for (const [key, ids] of idsOf) if (ids.every((id) => likely.has(id))) shared.delete(key);
  return found.filter(({ profileId }) => likely.has(profileId));
}

/** spec: Prioritization. The orders in which items look at the users of an address that many share. */
function ordersOf(
  steps: readonly Naming[],
  shared: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlyMap<string, HolderOrder>> {
  const orders = new Map<string, Map<string, HolderOrder>>();
  for (const { names, chooses = [] } of steps) {
    const selectors = names.map(
      (identifier) =>
        chooses.find((each) => each.identifier === identifier) ?? {
          identifier,
          prioritization: [],
        },
    );
    for (const { identifier, prioritization } of selectors) {
      const key = identifierKey(identifier);
      if (!shared.has(key)) continue;
      const byTime = prioritization.findIndex((each) => each.endsWith("_recently_updated"));
      const byId = prioritization.findIndex((each) => each.endsWith("identified"));
      // After the time one user is left, so only what comes before it chooses among all.
      const filters = byId >= 0 && (byTime < 0 || byId < byTime);
      const order: HolderOrder = {
        isIdentified: filters ? prioritization[byId] === "identified" : undefined,
        isAscending: prioritization[byTime] === "least_recently_updated",
      };
      const known = orders.get(key) ?? new Map<string, HolderOrder>();
      orders.set(key, known.set(JSON.stringify(order), order));
    }
  }
  return orders;
}

/**
 * How many items may change a user of each identifier: those that name it, or another one of its users, or one
 * of theirs, and so on.
 */
function countSteps(
  steps: readonly Naming[],
  idsOf: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, number> {
  const parents = new Map<string, string>();
  const root = (of: string): string => {
    let at = of;
    for (let above = parents.get(at); above !== undefined; above = parents.get(at)) {
      const higher = parents.get(above);
      if (higher !== undefined) parents.set(at, higher);
      at = above;
    }
    return at;
  };
  for (const [key, ids] of idsOf) {
    for (const id of ids) {
      const [one, other] = [root(key), root(`id ${id}`)];
      if (one !== other) parents.set(other, one);
    }
  }
  const counts = new Map<string, number>();
  for (const { names } of steps) {
    const platformIds = names.filter(({ kind }) => kind === "platform_id");
    const roots = new Set([
      ...names.map((name) => root(identifierKey(name))),
      ...platformIds.map(({ value }) => root(`id ${value}`)),
    ]);
    for (const each of roots) counts.set(each, (counts.get(each) ?? 0) + 1);
  }
  return new Map([...idsOf.keys()].map((key) => [key, counts.get(root(key)) ?? 0]));
}
