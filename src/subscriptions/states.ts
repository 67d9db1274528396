import type { Clock } from "../clock.ts";
import { allDone, type Queryable, type Transaction } from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import {
  deleteAllChanges,
  insertEmailStateChanges,
  insertGroupStateChanges,
} from "./history-store.ts";
import {
  deleteAllStates,
  type EmailStateRow,
  type GroupStateRow,
  insertMissingEmailStates,
  selectEmailStates,
  selectGroupStates,
  upsertEmailStates,
  upsertGroupStates,
} from "./store.ts";

/*
 * What people want to receive. A group state belongs to a profile; the email state belongs to the
 * address, so that it holds for whoever has the address now and for whoever gets it later.
 *
 * Every change of a state is kept as history, because consent must be provable. Setting what stands
 * already is no change: it writes nothing (decision: docs/decisions/subscription-history.md).
 */

export type { EmailState, EmailStateRow, GroupState, GroupStateRow } from "./store.ts";

/** A state that is set, and by which call. */
export type GroupStateSet = GroupStateRow & { readonly call: Call };
export type EmailStateSet = EmailStateRow & { readonly call: Call };

/** What a batch of writes does to subscriptions; who is meant has been worked out already. */
export interface SubscriptionChanges {
  /** In their order: one profile and group may be set several times, and so may an address. */
  readonly groupStates: readonly GroupStateSet[];
  readonly emailStates: readonly EmailStateSet[];
  /** Only for addresses that have no state yet, each once; they count before `emailStates`. */
  readonly initialEmailStates: readonly EmailStateSet[];
}

/**
 * Writes the changes and their history: a statement for each kind that is there, and a second one
 * for the history where something changed. The profiles must be locked by the transaction.
 *
 * The history has the time at which the rows were held, not the one at which the request began: of two
 * writers of one state the later one stands behind.
 */
export async function writeSubscriptions(
  tx: Transaction,
  workspaceId: number,
  changes: SubscriptionChanges,
  clock: Clock,
): Promise<void> {
  const { groupStates, emailStates, initialEmailStates } = changes;
  const now = clock.now();
  const groups = writeSteps(groupStates, groupKey, (rows) =>
    upsertGroupStates(tx, workspaceId, rows, now),
  );
  const initial = insertMissingEmailStates(tx, workspaceId, initialEmailStates, now);
  const emails = writeSteps(emailStates, emailKey, (rows) =>
    upsertEmailStates(tx, workspaceId, rows, now),
  );
  await allDone([
    groups.then((changed) => insertGroupStateChanges(tx, workspaceId, dated(changed, clock))),
    allDone([initial, emails]).then(([begun, changed]) => {
      const addresses = new Set(begun.map(emailKey));
      const all = [...initialEmailStates.filter((row) => addresses.has(row.email)), ...changed];
      return insertEmailStateChanges(tx, workspaceId, dated(all, clock));
    }),
  ]);
}

/** Sets as entries of the history, in their order. */
export function dated<Row>(rows: readonly Row[], clock: Clock) {
  const changedAt = clock.now();
  return rows.map((row) => ({ ...row, id: clock.newId(), changedAt }));
}

const groupKey = ({ profileId, groupId }: GroupStateRow): string => `${profileId} ${groupId}`;

const emailKey = ({ email }: EmailStateRow): string => email;

/**
 * Writes states that are set one after the other. Of each key the first is written, so that the
 * engine tells whether it is a change, and then the last; one in between is a change where it differs
 * from the one before.
 *
 * @returns those that changed something, in their order.
 */
async function writeSteps<Key, Row extends Key & { readonly state: string }>(
  rows: readonly Row[],
  keyOf: (row: Key) => string,
  upsert: (rows: readonly Row[]) => Promise<readonly Key[]>,
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
  const [written] = await allDone([upsert([...first.values()]), upsert(further)]);
  const changed = new Set(written.map(keyOf));
  return steps.filter((row) => row !== first.get(keyOf(row)) || changed.has(keyOf(row)));
}

/** The group states of profiles. */
export const readGroupStates = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<GroupStateRow[]> => selectGroupStates(database, workspaceId, profileIds);

/** The email states that are stored for addresses (lower case); an address without one is subscribed. */
export const readEmailStates = (
  database: Queryable,
  workspaceId: number,
  emails: readonly string[],
): Promise<EmailStateRow[]> => selectEmailStates(database, workspaceId, emails);

export async function eraseSubscriptions(tx: Transaction, workspaceId: number): Promise<void> {
  await deleteAllStates(tx, workspaceId);
  await deleteAllChanges(tx, workspaceId);
}
