import { type Queryable, settleAll } from "../../database/database.ts";
import { emailValue } from "../profiles/identifiers.ts";
import { decide, type Filter, leavesOf } from "./filter.ts";
import type { Address, Leaf } from "./leaf.ts";
import {
  type Candidate,
  countPortion,
  type Portion,
  type PortionCount,
  selectAddresses,
  selectCandidates,
} from "./members-store.ts";

/* Decides which users meet a filter: SQL decides first, and the program decides for users whom SQL leaves open. */

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
  const leaves = [...new Set(filters.flatMap(leavesOf))];
  const countOpen = async (): Promise<readonly number[]> => {
    if (!leaves.some(({ open }) => open)) return [];
    const users = await selectCandidates(tx, workspaceId, portion, "open", filters, leaves, now);
    const truths = await truthsOf(tx, workspaceId, leaves, users, now);
    return filters.map(
      (filter, place) =>
        users.filter(
          ({ sure }, index) => !sure[place] && decide(filter, truths[index] as LeafTruths),
        ).length,
    );
  };
  const [{ sure, ...count }, open] = await settleAll([
    countPortion(tx, workspaceId, portion, filters, now),
    countOpen(),
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
  const leaves = leavesOf(filter);
  const [{ seen, lastId }, users] = await settleAll([
    countPortion(tx, workspaceId, portion, [], now),
    selectCandidates(tx, workspaceId, portion, "possible", [filter], leaves, now),
  ]);
  const truths = await truthsOf(tx, workspaceId, leaves, users, now);
  const members = users.filter((_, index) => decide(filter, truths[index] as LeafTruths));
  const isLast = portion.kind === "next" && seen < portion.size;
  return { ids: members.map(({ id }) => id), lastId: isLast ? null : lastId };
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
  const leaves = leavesOf(filter);
  const portion = { kind: "one", id } as const;
  const users = await selectCandidates(tx, workspaceId, portion, "all", [filter], leaves, now);
  const [holds] = await truthsOf(tx, workspaceId, leaves, users, now);
  if (!holds) return undefined;
  return {
    isMember: decide(filter, holds),
    reasons: leaves.map((leaf) => ({ condition: leaf.words, holds: holds(leaf) })),
  };
}

type LeafTruths = (leaf: Leaf) => boolean;

const UNKNOWN: Address = { state: undefined, hasBounced: false };

const SURELY = 2;
const POSSIBLY = 1;

/** For each user which conditions hold. */
async function truthsOf(
  tx: Queryable,
  workspaceId: number,
  leaves: readonly Leaf[],
  users: readonly Candidate[],
  now: Date,
): Promise<LeafTruths[]> {
  const undecided = users.filter(({ truths }) => truths.includes(POSSIBLY));
  const addresses = await readAddresses(tx, workspaceId, undecided);
  const places = new Map(leaves.map((leaf, place) => [leaf, place]));
  return users.map(({ email, truths, values }) => {
    const address = addresses.get(emailValue(email ?? "")) ?? UNKNOWN;
    return (leaf) => {
      const place = places.get(leaf) ?? 0;
      if (truths[place] !== POSSIBLY) return truths[place] === SURELY;
      return leaf.open?.holds(values[place] ?? undefined, address, now) === true;
    };
  });
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
