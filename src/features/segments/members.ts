import { startTurns } from "../../core/base/turns.ts";
import { settleAll } from "../../core/database/database.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { decisionOf, type Filter, leavesOf, leavesOfAll } from "./filter.ts";
import type { Address, Leaf } from "./leaf.ts";
import {
  type Candidate,
  countPortion,
  FEW_LOOKUPS,
  type Look,
  type PortionCount,
  selectAddresses,
  selectCandidates,
} from "./members-store.ts";

/* Decides which users meet a filter: SQL decides first, and the program decides for users whom SQL leaves open. */

export interface MemberCount extends Omit<PortionCount, "sure"> {
  readonly matching: number;
}

/** Counts the users of a portion who meet a filter. */
export async function countMembers(look: Look, filter: Filter): Promise<MemberCount> {
  if (look.portion.conditionsAtOnce) {
    const [count] = await countMembersOfEach(look, [filter]);
    return count as MemberCount;
  }
  const leaves = leavesOf(filter);
  const countOpen = async (): Promise<number> => {
    if (!leaves.some(({ open }) => open)) return 0;
    const among = { filter, which: "open" } as const;
    const sorted = sortedByWork(leaves);
    const users = await selectCandidates(look, among, sorted);
    const truths = await truthsOf(look, sorted, users);
    return truths.filter(decisionOf(filter)).length;
  };
  const [{ sure, ...count }, open] = await settleAll([countPortion(look, filter), countOpen()]);
  return { ...count, matching: sure + open };
}

/**
 * Counts the users of a portion who meet each of some filters. The engine works out each condition once, and the program
 * decides about the filters, of which many may have the same conditions.
 */
export async function countMembersOfEach(
  look: Look,
  filters: readonly Filter[],
): Promise<MemberCount[]> {
  const [only, second] = filters;
  if (only && !second && !look.portion.conditionsAtOnce) return [await countMembers(look, only)];
  const leaves = { first: leavesOfAll(filters), last: [] };
  const [{ sure: _none, ...count }, { truths }] = await settleAll([
    countPortion(look),
    decideAll(look, undefined, leaves),
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
  look: Look,
  filter: Filter,
): Promise<{ readonly ids: readonly string[]; readonly lastId: string | null }> {
  const leaves = sortedByWork(leavesOf(filter));
  const among = { filter, which: "possible" } as const;
  const [{ seen, lastId }, { users, truths }] = await settleAll([
    countPortion(look),
    decideAll(look, among, leaves),
  ]);
  const decision = decisionOf(filter);
  const members = users.filter((_, index) => decision(truths[index] as LeafTruths));
  const { portion } = look;
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
  look: Look,
  filter: Filter,
): Promise<{ readonly isMember: boolean; readonly reasons: readonly Reason[] } | undefined> {
  const leaves = leavesOf(filter);
  const sorted = { first: leaves, last: [] };
  const { truths } = await decideAll(look, undefined, sorted);
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
  look: Look,
  among: Parameters<typeof selectCandidates>[1],
  leaves: SortedLeaves,
): Promise<Decided> {
  const { conditionsAtOnce = Number.POSITIVE_INFINITY } = look.portion;
  const all = [...leaves.first, ...leaves.last];
  if (all.length <= conditionsAtOnce) {
    const users = await selectCandidates(look, among, leaves);
    return { users, truths: await truthsOf(look, leaves, users) };
  }
  let users: readonly Candidate[] = [];
  const holding = new Set<Leaf>();
  for (let from = 0; from < all.length; from += conditionsAtOnce) {
    const some = { first: all.slice(from, from + conditionsAtOnce), last: [] };
    users = await selectCandidates(look, undefined, some);
    const [holds] = await truthsOf(look, some, users);
    for (const leaf of some.first) if (holds?.(leaf)) holding.add(leaf);
  }
  return { users, truths: users.map(() => (leaf) => holding.has(leaf)) };
}

/** Others get their turn between two users: each condition may read a value as a time, which takes long. */
async function truthsOf(
  look: Look,
  { first, last }: SortedLeaves,
  users: readonly Candidate[],
): Promise<LeafTruths[]> {
  const isOpen = ({ must, may }: Candidate) =>
    may.some((each, place) => (each ?? must[place]) !== must[place]);
  const addresses = await readAddresses(look, users.filter(isOpen));
  const turns = startTurns();
  const ofUsers: LeafTruths[] = [];
  for (const { email, must, may, given, decided } of users) {
    const address = addresses.get(emailValue(email ?? "")) ?? UNKNOWN;
    const truths = new Map(last.map((leaf, place) => [leaf, decided[place] === true]));
    for (const [place, leaf] of first.entries()) {
      const isDecided = (may[place] ?? must[place]) === must[place];
      truths.set(
        leaf,
        isDecided
          ? must[place] === true
          : leaf.open?.holds(given[place] ?? undefined, address, look.now) === true,
      );
    }
    ofUsers.push((leaf) => truths.get(leaf) === true);
    if (turns.isOver()) await turns.next();
  }
  return ofUsers;
}

async function readAddresses(
  look: Look,
  users: readonly Candidate[],
): Promise<ReadonlyMap<string, Address>> {
  const emails = new Set(users.flatMap(({ email }) => (email ? [emailValue(email)] : [])));
  const rows = await selectAddresses(look, [...emails]);
  return new Map(
    rows.map(({ email, state, hasBounced }) => [email, { state: state ?? undefined, hasBounced }]),
  );
}
