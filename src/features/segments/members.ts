import { startTurns } from "../../core/base/turns.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { decisionOf, type Filter, leavesOf, leavesOfAll } from "./filter.ts";
import type { Address, Leaf } from "./leaf.ts";
import {
  type Candidate,
  countPortion,
  FEW_LOOKUPS,
  type Portion,
  type PortionCount,
  selectAddresses,
  selectCandidates,
} from "./members-store.ts";

/* Decides which users meet a filter: SQL decides first, and the program decides for users whom SQL leaves open. */

export interface MemberCount extends Omit<PortionCount, "sure"> {
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
  if (portion.conditionsAtOnce) {
    const [count] = await countMembersOfEach(tx, workspaceId, portion, [filter], now);
    return count as MemberCount;
  }
  const leaves = leavesOf(filter);
  const countOpen = async (): Promise<number> => {
    if (!leaves.some(({ open }) => open)) return 0;
    const among = { filter, which: "open" } as const;
    const sorted = sortedByWork(leaves);
    const users = await selectCandidates(tx, workspaceId, portion, among, sorted, now);
    const truths = await truthsOf(tx, workspaceId, sorted, users, now);
    return truths.filter(decisionOf(filter)).length;
  };
  const [{ sure, ...count }, open] = await settleAll([
    countPortion(tx, workspaceId, portion, filter, now),
    countOpen(),
  ]);
  return { ...count, matching: sure + open };
}

/**
 * Counts the users of a portion who meet each of some filters. The engine works out each condition once, and the program
 * decides about the filters, of which many may have the same conditions.
 */
export async function countMembersOfEach(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filters: readonly Filter[],
  now: Date,
): Promise<MemberCount[]> {
  const [only, second] = filters;
  if (only && !second && !portion.conditionsAtOnce)
    return [await countMembers(tx, workspaceId, portion, only, now)];
  const leaves = { first: leavesOfAll(filters), last: [] };
  const [{ sure: _none, ...count }, { truths }] = await settleAll([
    countPortion(tx, workspaceId, portion, undefined, now),
    decideAll(tx, workspaceId, portion, undefined, leaves, now),
  ]);
  const turns = startTurns();
  const counts: MemberCount[] = [];
  for (const filter of filters) {
    counts.push({ ...count, matching: truths.filter(decisionOf(filter)).length });
    if (turns.isOver()) await turns.next();
  }
  return counts;
}

/** The ids of the users of a portion who meet a filter, in their order, and the last id of the portion. */
export async function readMembers(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filter: Filter,
  now: Date,
): Promise<{ readonly ids: readonly string[]; readonly lastId: string | null }> {
  const leaves = sortedByWork(leavesOf(filter));
  const among = { filter, which: "possible" } as const;
  const [{ seen, lastId }, { users, truths }] = await settleAll([
    countPortion(tx, workspaceId, portion, undefined, now),
    decideAll(tx, workspaceId, portion, among, leaves, now),
  ]);
  const decision = decisionOf(filter);
  const members = users.filter((_, index) => decision(truths[index] as LeafTruths));
  const isLast = portion.kind === "next" && seen < portion.size;
  return { ids: members.map(({ id }) => id), lastId: isLast ? null : lastId };
}

/** Whether one condition holds for a user. */
export interface Reason {
  readonly condition: string;
  readonly holds: boolean;
}

/** Whether a user meets a filter, and each of its conditions. Undefined if there is no such user. */
export async function explainMember(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filter: Filter,
  now: Date,
): Promise<{ readonly isMember: boolean; readonly reasons: readonly Reason[] } | undefined> {
  const leaves = leavesOf(filter);
  const sorted = { first: leaves, last: [] };
  const { truths } = await decideAll(tx, workspaceId, portion, undefined, sorted, now);
  const [holds] = truths;
  if (!holds) return undefined;
  return {
    isMember: decisionOf(filter)(holds),
    reasons: leaves.map((leaf) => ({ condition: leaf.words, holds: holds(leaf) })),
  };
}

interface SortedLeaves {
  readonly first: readonly Leaf[];
  readonly last: readonly Leaf[];
}

/** Conditions about other rows come last, unless there are many. */
function sortedByWork(leaves: readonly Leaf[]): SortedLeaves {
  const last = leaves.filter(({ looksUp }) => looksUp);
  if (last.length > FEW_LOOKUPS) return { first: leaves, last: [] };
  return { first: leaves.filter(({ looksUp }) => !looksUp), last };
}

type LeafTruths = (leaf: Leaf) => boolean;

const UNKNOWN: Address = { state: undefined, hasBounced: false };

interface Decided {
  readonly users: readonly Candidate[];
  /** Of each of the users. */
  readonly truths: readonly LeafTruths[];
}

/** Decides about the users of a portion who come into question; about one with many rows in several statements. */
async function decideAll(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  among: Parameters<typeof selectCandidates>[3],
  leaves: SortedLeaves,
  now: Date,
): Promise<Decided> {
  const { conditionsAtOnce = Number.POSITIVE_INFINITY } = portion;
  const all = [...leaves.first, ...leaves.last];
  if (all.length <= conditionsAtOnce) {
    const users = await selectCandidates(tx, workspaceId, portion, among, leaves, now);
    return { users, truths: await truthsOf(tx, workspaceId, leaves, users, now) };
  }
  let users: readonly Candidate[] = [];
  const holding = new Set<Leaf>();
  for (let from = 0; from < all.length; from += conditionsAtOnce) {
    const some = { first: all.slice(from, from + conditionsAtOnce), last: [] };
    users = await selectCandidates(tx, workspaceId, portion, undefined, some, now);
    const [holds] = await truthsOf(tx, workspaceId, some, users, now);
    for (const leaf of some.first) if (holds?.(leaf)) holding.add(leaf);
  }
  return { users, truths: users.map(() => (leaf) => holding.has(leaf)) };
}

async function truthsOf(
  tx: Queryable,
  workspaceId: number,
  { first, last }: SortedLeaves,
  users: readonly Candidate[],
  now: Date,
): Promise<LeafTruths[]> {
  const isOpen = ({ must, may }: Candidate) =>
    may.some((each, place) => (each ?? must[place]) !== must[place]);
  const addresses = await readAddresses(tx, workspaceId, users.filter(isOpen));
  return users.map(({ email, must, may, given, decided }) => {
    const address = addresses.get(emailValue(email ?? "")) ?? UNKNOWN;
    const truths = new Map(last.map((leaf, place) => [leaf, decided[place] === true]));
    for (const [place, leaf] of first.entries()) {
      const isDecided = (may[place] ?? must[place]) === must[place];
      truths.set(
        leaf,
        isDecided
          ? must[place] === true
          : leaf.open?.holds(given[place] ?? undefined, address, now) === true,
      );
    }
    return (leaf) => truths.get(leaf) === true;
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
