import { type Queryable, settleAll } from "../../database/database.ts";
import { emailValue } from "../profiles/identifiers.ts";
import { decide, type Filter, filterSql, leavesOf } from "./filter.ts";
import type { Address, Leaf } from "./leaf.ts";
import {
  type Candidate,
  type Conditions,
  countPortion,
  type Portion,
  type PortionCount,
  selectAddresses,
  selectCandidates,
} from "./members-store.ts";

/* Decides which users meet a filter: SQL decides first, and the program decides for users whom SQL leaves open. */

/** A filter with its conditions sorted by whether SQL may leave them open. */
interface Prepared {
  readonly filter: Filter;
  readonly conditions: Conditions;
  readonly open: readonly Leaf[];
  readonly decided: readonly Leaf[];
}

function prepare(filter: Filter): Prepared {
  const leaves = leavesOf(filter);
  const open = leaves.filter((leaf) => leaf.open !== undefined);
  const decided = leaves.filter((leaf) => leaf.open === undefined);
  return {
    filter,
    open,
    decided,
    conditions: {
      boundsOf: (values) => filterSql(filter, values),
      open: open.flatMap(({ sql, open: question }) => (question ? [{ sql, question }] : [])),
      decided: decided.map(({ sql }) => sql),
    },
  };
}

export interface MemberCount extends Omit<PortionCount, "sure"> {
  /** How many of the users meet the filter. */
  readonly matching: number;
}

/** Counts the users of a portion who meet a filter. */
export async function countMembers(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filter: Filter,
  now: Date,
): Promise<MemberCount> {
  const [count] = await countMembersOfEach(tx, workspaceId, portion, [filter], now);
  return count as MemberCount;
}

/** Counts the users of a portion who meet each of some filters. */
export async function countMembersOfEach(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filters: readonly Filter[],
  now: Date,
): Promise<MemberCount[]> {
  const prepared = filters.map(prepare);
  const bounds = prepared.map(({ conditions }) => conditions.boundsOf);
  const countOpen = async (each: Prepared): Promise<number> => {
    if (each.open.length === 0) return 0;
    const users = await selectCandidates(tx, workspaceId, portion, each.conditions, now, true);
    return (await membersAmong(tx, workspaceId, each, users, now)).length;
  };
  const [{ sure, ...count }, open] = await settleAll([
    countPortion(tx, workspaceId, portion, bounds, now),
    settleAll(prepared.map(countOpen)),
  ]);
  return filters.map((_, index) => ({
    ...count,
    matching: (sure[index] ?? 0) + (open[index] ?? 0),
  }));
}

/** The ids of the users of a portion who meet a filter, in their order, and the last id of the portion. */
export async function readMembers(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filter: Filter,
  now: Date,
): Promise<{ readonly ids: readonly string[]; readonly lastId: string | null }> {
  const prepared = prepare(filter);
  const [{ seen, lastId }, candidates] = await settleAll([
    countPortion(tx, workspaceId, portion, [], now),
    selectCandidates(tx, workspaceId, portion, prepared.conditions, now, false),
  ]);
  const ids = await membersAmong(tx, workspaceId, prepared, candidates, now);
  const isLast = portion.kind === "next" && seen < portion.size;
  return { ids, lastId: isLast ? null : lastId };
}

/** What one condition says about a user. */
export interface Reason {
  readonly condition: string;
  readonly holds: boolean;
}

/** Whether a user meets a filter, and each of its conditions. Undefined if there is no such user. */
export async function explainMember(
  tx: Queryable,
  workspaceId: number,
  id: string,
  filter: Filter,
  now: Date,
): Promise<{ readonly isMember: boolean; readonly reasons: readonly Reason[] } | undefined> {
  const prepared = prepare(filter);
  const everyone: Conditions = {
    ...prepared.conditions,
    boundsOf: () => ({ must: "false", may: "true" }),
  };
  const portion = { kind: "one", id } as const;
  const [user] = await selectCandidates(tx, workspaceId, portion, everyone, now, false);
  if (!user) return undefined;
  const addresses = await readAddresses(tx, workspaceId, [user]);
  const holds = truthsOf(prepared, user, addresses, now);
  return {
    isMember: decide(filter, holds),
    reasons: leavesOf(filter).map((leaf) => ({ condition: leaf.words, holds: holds(leaf) })),
  };
}

async function membersAmong(
  tx: Queryable,
  workspaceId: number,
  prepared: Prepared,
  candidates: readonly Candidate[],
  now: Date,
): Promise<string[]> {
  const addresses = await readAddresses(
    tx,
    workspaceId,
    candidates.filter(({ isSure }) => !isSure),
  );
  return candidates
    .filter(
      (user) => user.isSure || decide(prepared.filter, truthsOf(prepared, user, addresses, now)),
    )
    .map(({ id }) => id);
}

const UNKNOWN: Address = { state: undefined, hasBounced: false };

/** The conditions that a user meets. */
function truthsOf(
  { open, decided }: Prepared,
  user: Candidate,
  addresses: ReadonlyMap<string, Address>,
  now: Date,
): (leaf: Leaf) => boolean {
  const address = addresses.get(emailValue(user.email ?? "")) ?? UNKNOWN;
  const truths = new Map<Leaf, boolean>(
    decided.map((leaf, index) => [leaf, user.decided[index] === true]),
  );
  for (const [index, leaf] of open.entries()) {
    const found = user.open[index];
    const isDecided = found?.must === found?.may;
    truths.set(
      leaf,
      isDecided
        ? found?.must === true
        : leaf.open?.holds(found?.value ?? undefined, address, now) === true,
    );
  }
  return (leaf) => truths.get(leaf) === true;
}

async function readAddresses(
  tx: Queryable,
  workspaceId: number,
  users: readonly Candidate[],
): Promise<ReadonlyMap<string, Address>> {
  const emails = new Set(users.flatMap(({ email }) => (email ? [emailValue(email)] : [])));
  const rows = await selectAddresses(tx, workspaceId, [...emails]);
  return new Map(
    rows.map(({ email, state, hasBounced }) => [email, { state: state ?? undefined, hasBounced }]),
  );
}
