import type { Clock } from "../../base/clock.ts";
import type { CallRecord } from "../../base/context/context.ts";
import { inSlices } from "../../base/turns.ts";
import type { EmailState } from "../../base/values/email-states.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import {
  deleteAllChanges,
  type EmailStateChange,
  type GroupStateChange,
  insertEmailStateChanges,
  insertGroupStateChanges,
} from "./history-store.ts";
import { deleteAllJoined } from "./spellings-store.ts";
import {
  type DatedEmailStateRow,
  deleteAllStates,
  type EmailStateRow,
  type GroupState,
  type GroupStateRow,
  repeatRefusals,
  type SpelledState,
  selectStatesIn,
  upsertEmailStates,
  upsertLinkedEmailStates,
  writeEmailStates,
  writeGroupStates,
} from "./store.ts";

/*
 * A group state belongs to a profile; the email state belongs to the address and applies to all users who
 * have the address, now or later. Every change is kept as history, because consent must be provable.
 * Setting the present state again writes nothing (decision: docs/decisions/subscription-history.md).
 */

export type {
  DatedEmailStateRow,
  EmailStateRow,
  GroupState,
  GroupStateRow,
  SpelledState,
} from "./store.ts";

export type GroupStateSet = GroupStateRow & { readonly context: CallRecord };
export type EmailStateSet = SpelledState & {
  /** In microseconds since the epoch; undefined means the time of the write. */
  readonly setAt?: number;
  readonly context: CallRecord;
};

/** A state that waited in a profile until an address was linked, and the call that linked it. */
export type LinkedEmailState = DatedEmailStateRow & { readonly context: CallRecord };

/** The changes of a batch of writes to subscriptions, with all users resolved. */
export interface SubscriptionChanges {
  /** Ordered: a profile and group, or an address, may be set several times. */
  readonly groupStates: readonly GroupStateSet[];
  readonly emailStates: readonly EmailStateSet[];
  /** Each address once. They apply before `emailStates`, and only if nothing newer is stored. */
  readonly linkedEmailStates: readonly LinkedEmailState[];
  /** Each address once. They apply after `emailStates`, and only if nothing newer is stored. */
  readonly relinkedEmailStates?: readonly LinkedEmailState[];
}

export interface StateChanges {
  readonly groupStates: readonly (GroupStateChange & { readonly before: GroupState | null })[];
  readonly emailStates: readonly (EmailStateChange & { readonly before: EmailState | null })[];
}

/**
 * Writes the changes and their history: one statement for each kind of state, and one for its history if
 * something changed. The profiles must be locked by the transaction.
 *
 * History entries are dated after the rows are locked, so that the later of two writers has the
 * later entry.
 *
 * @returns those entries.
 */
export async function writeSubscriptions(
  tx: Transaction,
  workspaceId: number,
  changes: SubscriptionChanges,
  clock: Clock,
): Promise<StateChanges> {
  const { groupStates, linkedEmailStates } = changes;
  const now = clock.now();
  const emailStates = changes.emailStates.map((row) => ({ setAt: now.getTime() * 1_000, ...row }));
  const linked = upsertLinkedEmailStates(tx, workspaceId, linkedEmailStates);
  const emails = writeEmailSteps(tx, workspaceId, emailStates);
  const [{ groupStates: ofGroups }, ofEmails] = await settleAll([
    writeGroupSets(tx, workspaceId, groupStates, clock),
    settleAll([linked, emails]).then(async ([taken, changed]) => {
      const all = [...stepsBy(linkedEmailStates, taken), ...changed];
      const entries = dated(all.map(withBefore), clock);
      const repeated = repeatedRefusals(
        [...linkedEmailStates, ...emailStates],
        all.map(({ row }) => row),
      );
      await settleAll([
        insertEmailStateChanges(tx, workspaceId, entries),
        repeatRefusals(tx, workspaceId, repeated),
      ]);
      return entries;
    }),
  ]);
  const relinked = await writeRelinked(tx, workspaceId, changes, clock);
  return { groupStates: ofGroups, emailStates: [...ofEmails, ...relinked] };
}

/**
 * Sets group states in order: one statement that reads them, and where something changes one for
 * the states and one for the history. Cheaper than `writeSubscriptions` if many are set again,
 * because an unchanged state is not locked.
 *
 * The profiles must be locked by the transaction, with a statement that was sent before.
 */
export async function writeGroupSets(
  tx: Transaction,
  workspaceId: number,
  sets: readonly GroupStateSet[],
  clock: Clock,
): Promise<StateChanges> {
  // In order: if a state is set several times, the last one counts.
  const groupStates = await inSlices(sets, (slice) => writeSets(tx, workspaceId, slice, clock));
  return { groupStates, emailStates: [] };
}

async function writeSets(
  tx: Transaction,
  workspaceId: number,
  sets: readonly GroupStateSet[],
  clock: Clock,
): Promise<StateChanges["groupStates"][number][]> {
  const profileIds = [...new Set(sets.map(({ profileId }) => profileId))];
  const groupIds = [...new Set(sets.map(({ groupId }) => groupId))];
  const stored = await selectStatesIn(tx, workspaceId, profileIds, groupIds);
  const present = new Map(stored.map((row) => [groupKey(row), row.state]));
  const last = new Map<string, GroupStateSet>();
  const changes = sets.flatMap((row) => {
    const key = groupKey(row);
    const before = present.get(key) ?? null;
    if (before === row.state) return [];
    present.set(key, row.state);
    last.set(key, row);
    return [{ ...row, before }];
  });
  const entries = dated(changes, clock);
  await settleAll([
    writeGroupStates(tx, workspaceId, [...last.values()], clock.now()),
    insertGroupStateChanges(tx, workspaceId, entries),
  ]);
  return entries;
}

async function writeRelinked(
  tx: Transaction,
  workspaceId: number,
  { relinkedEmailStates = [] }: SubscriptionChanges,
  clock: Clock,
): Promise<StateChanges["emailStates"][number][]> {
  const taken = await upsertLinkedEmailStates(tx, workspaceId, relinkedEmailStates);
  const entries = dated(stepsBy(relinkedEmailStates, taken).map(withBefore), clock);
  await insertEmailStateChanges(tx, workspaceId, entries);
  return entries;
}

/**
 * Refusals that were set again. Their time is updated, so that no earlier change undoes them; the
 * time of other states is not, because clients repeat states with every sync.
 */
function repeatedRefusals(
  set: readonly DatedEmailStateRow[],
  changed: readonly EmailStateRow[],
): DatedEmailStateRow[] {
  const hasChanged = new Set(changed);
  const last = new Map(set.map((row) => [row.email, row]));
  return [...last.values()].filter((row) => row.state === "unsubscribed" && !hasChanged.has(row));
}

/** Sets as entries of the history, in their order. */
export function dated<Row>(rows: readonly Row[], clock: Clock) {
  const changedAt = clock.now();
  return rows.map((row) => ({ ...row, id: clock.newId(), changedAt }));
}

const groupKey = ({ profileId, groupId }: GroupStateRow): string => `${profileId} ${groupId}`;

/** A set that has changed the state, and the state before it; null if there was none. */
interface StateStep<Row> {
  readonly row: Row;
  readonly before: EmailState | null;
}

const withBefore = <Row>({ row, before }: StateStep<Row>) => ({ ...row, before });

/** The rows of addresses whose states have changed. */
const stepsBy = <Row extends EmailStateRow>(
  rows: readonly Row[],
  changed: readonly { readonly email: string; readonly before: EmailState | null }[],
): StateStep<Row>[] => {
  const before = new Map(changed.map((each) => [each.email, each.before]));
  return rows.flatMap((row) => {
    const state = before.get(row.email);
    return state === undefined ? [] : [{ row, before: state }];
  });
};

/**
 * Writes states of addresses; one may be set several times. For each address the first is written,
 * so that the engine reports whether it is a change, then the last; one in between is a change if
 * it differs from the previous one. The last one is written even if the same value was stored
 * before, because its time counts against writes in between.
 *
 * @returns the ones that changed something, in order.
 */
async function writeEmailSteps(
  tx: Transaction,
  workspaceId: number,
  rows: readonly (EmailStateSet & DatedEmailStateRow)[],
): Promise<StateStep<EmailStateSet & DatedEmailStateRow>[]> {
  const first = new Map<string, EmailStateRow>();
  const last = new Map<string, (typeof rows)[number]>();
  const steps = rows.flatMap((row) => {
    const known = last.get(row.email);
    if (known?.state === row.state) return [];
    if (!first.has(row.email)) first.set(row.email, row);
    last.set(row.email, row);
    return [{ row, before: known?.state ?? null }];
  });
  const further = [...last.values()].filter((row) => row !== first.get(row.email));
  const [written] = await settleAll([
    upsertEmailStates(tx, workspaceId, [...first.values()] as typeof further),
    writeEmailStates(tx, workspaceId, further),
  ]);
  const changed = new Map(written.map((each) => [each.email, each.before]));
  return steps.flatMap((step) => {
    if (step.row !== first.get(step.row.email)) return [step];
    const before = changed.get(step.row.email);
    return before === undefined ? [] : [{ row: step.row, before }];
  });
}

/** By profile, and by the form of an address; an address without a state is subscribed. */
export {
  selectEmailStates as readEmailStates,
  selectGroupStates as readGroupStates,
} from "./store.ts";

export async function eraseSubscriptions(tx: Transaction, workspaceId: number): Promise<void> {
  await deleteAllStates(tx, workspaceId);
  await deleteAllJoined(tx, workspaceId);
  await deleteAllChanges(tx, workspaceId);
}
