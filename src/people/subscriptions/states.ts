import type { Clock } from "../../base/clock.ts";
import type { CallRecord } from "../../base/context/context.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import {
  deleteAllChanges,
  type EmailStateChange,
  type GroupStateChange,
  insertEmailStateChanges,
  insertGroupStateChanges,
} from "./history-store.ts";
import {
  type DatedEmailStateRow,
  deleteAllStates,
  type EmailStateRow,
  type GroupStateRow,
  repeatRefusals,
  selectStatesIn,
  upsertEmailStates,
  upsertGroupStates,
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
  EmailState,
  EmailStateRow,
  GroupState,
  GroupStateRow,
} from "./store.ts";

/** A state that is set, and by which call. */
export type GroupStateSet = GroupStateRow & { readonly context: CallRecord };
export type EmailStateSet = EmailStateRow & {
  /** In microseconds since the epoch; undefined for the time at which it is written. */
  readonly setAt?: number;
  readonly context: CallRecord;
};

/** A state that waited in a profile until an address was linked, and the call that linked it. */
export type LinkedEmailState = DatedEmailStateRow & { readonly context: CallRecord };

/** What a batch of writes does to subscriptions, with all users resolved. */
export interface SubscriptionChanges {
  /** In order: a profile and group, or an address, may be set several times. */
  readonly groupStates: readonly GroupStateSet[];
  readonly emailStates: readonly EmailStateSet[];
  /** Each address once. They count before `emailStates`, and only where nothing newer is stored. */
  readonly linkedEmailStates: readonly LinkedEmailState[];
  /** Each address once. They count after `emailStates`, and only where nothing newer is stored. */
  readonly relinkedEmailStates?: readonly LinkedEmailState[];
}

/** What changed, as entries of the history. */
export interface StateChanges {
  readonly groupStates: readonly GroupStateChange[];
  readonly emailStates: readonly EmailStateChange[];
}

/**
 * Writes the changes and their history: one statement for each kind of state, and one for its history if
 * something changed. The profiles must be locked by the transaction.
 *
 * History entries are dated after the rows are locked, so that of two writers the later one has the later
 * entry.
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
  const groups = writeSteps(groupStates, groupKey, {
    upsert: (rows) => upsertGroupStates(tx, workspaceId, rows, now),
    write: (rows) => writeGroupStates(tx, workspaceId, rows, now),
  });
  const linked = upsertLinkedEmailStates(tx, workspaceId, linkedEmailStates);
  const emails = writeSteps(emailStates, emailKey, {
    upsert: (rows) => upsertEmailStates(tx, workspaceId, rows),
    write: (rows) => writeEmailStates(tx, workspaceId, rows),
  });
  const [ofGroups, ofEmails] = await settleAll([
    groups.then(async (changed) => {
      const entries = dated(changed, clock);
      await insertGroupStateChanges(tx, workspaceId, entries);
      return entries;
    }),
    settleAll([linked, emails]).then(async ([taken, changed]) => {
      const addresses = new Set(taken.map(emailKey));
      const all = [...linkedEmailStates.filter((row) => addresses.has(row.email)), ...changed];
      const entries = dated(all, clock);
      await settleAll([
        insertEmailStateChanges(tx, workspaceId, entries),
        repeatRefusals(
          tx,
          workspaceId,
          repeatedRefusals([...linkedEmailStates, ...emailStates], all),
        ),
      ]);
      return entries;
    }),
  ]);
  const relinked = await writeRelinked(tx, workspaceId, changes, clock);
  return { groupStates: ofGroups, emailStates: [...ofEmails, ...relinked] };
}

/**
 * Sets group states in order: one statement that reads them, and where something changes one for the states and
 * one for the history. Cheaper than `writeSubscriptions` where many are set again, for a state that stays
 * is not locked.
 *
 * The profiles must be locked by the transaction, with a statement that was sent before.
 */
export async function writeGroupSets(
  tx: Transaction,
  workspaceId: number,
  sets: readonly GroupStateSet[],
  clock: Clock,
): Promise<StateChanges> {
  const profileIds = [...new Set(sets.map(({ profileId }) => profileId))];
  const groupIds = [...new Set(sets.map(({ groupId }) => groupId))];
  const stored = await selectStatesIn(tx, workspaceId, profileIds, groupIds);
  const present = new Map(stored.map((row) => [groupKey(row), row.state]));
  const last = new Map<string, GroupStateSet>();
  const changes = sets.filter((row) => {
    const key = groupKey(row);
    if (present.get(key) === row.state) return false;
    present.set(key, row.state);
    last.set(key, row);
    return true;
  });
  const entries = dated(changes, clock);
  await settleAll([
    writeGroupStates(tx, workspaceId, [...last.values()], clock.now()),
    insertGroupStateChanges(tx, workspaceId, entries),
  ]);
  return { groupStates: entries, emailStates: [] };
}

async function writeRelinked(
  tx: Transaction,
  workspaceId: number,
  { relinkedEmailStates = [] }: SubscriptionChanges,
  clock: Clock,
): Promise<EmailStateChange[]> {
  const taken = await upsertLinkedEmailStates(tx, workspaceId, relinkedEmailStates);
  const addresses = new Set(taken.map(emailKey));
  const changed = relinkedEmailStates.filter((row) => addresses.has(row.email));
  const entries = dated(changed, clock);
  await insertEmailStateChanges(tx, workspaceId, entries);
  return entries;
}

/**
 * Refusals that were set again. Their time is updated, so that nothing set before the repetition undoes
 * them; that of other states is not, because clients repeat states with every sync.
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

const emailKey = ({ email }: EmailStateRow): string => email;

/**
 * Writes states that may be set several times. For each key the first is written, so that the engine reports
 * whether it is a change, then the last; one in between is a change if it differs from the one before. The last one
 * is written even if it was stored before, for what came in between makes its time count.
 *
 * @returns those that changed something, in order.
 */
async function writeSteps<Key, Row extends Key & { readonly state: string }>(
  rows: readonly Row[],
  keyOf: (row: Key) => string,
  {
    upsert,
    write,
  }: {
    /** @returns those that were new or different before. */
    upsert(rows: readonly Row[]): Promise<readonly Key[]>;
    write(rows: readonly Row[]): Promise<void>;
  },
): Promise<Row[]> {
  const first = new Map<string, Row>();
  const last = new Map<string, Row>();
  const steps = rows.filter((row) => {
    const key = keyOf(row);
    if (last.get(key)?.state === row.state) return false;
    if (!first.has(key)) first.set(key, row);
    last.set(key, row);
    return true;
  });
  const further = [...last].filter(([key, row]) => row !== first.get(key)).map(([, row]) => row);
  const [written] = await settleAll([upsert([...first.values()]), write(further)]);
  const changed = new Set(written.map(keyOf));
  return steps.filter((row) => row !== first.get(keyOf(row)) || changed.has(keyOf(row)));
}

/** Of profiles, and of addresses in lower case; an address without a state is subscribed. */
export {
  selectEmailStates as readEmailStates,
  selectGroupStates as readGroupStates,
} from "./store.ts";

export async function eraseSubscriptions(tx: Transaction, workspaceId: number): Promise<void> {
  await deleteAllStates(tx, workspaceId);
  await deleteAllChanges(tx, workspaceId);
}
