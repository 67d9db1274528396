import type { Clock } from "../../base/clock.ts";
import type { CallRecord } from "../../base/context/context.ts";
import type { EmailState } from "../../base/values/email-states.ts";
import type { Transaction } from "../../database/database.ts";
import type { Written } from "../profiles/written.ts";
import {
  deleteGroupEntries,
  type EmailStateChange,
  type GroupStateChange,
  insertCarriedChanges,
  insertEmailStateChanges,
  selectNewestEntries,
  takeEmailStateChanges,
  takeGroupStateChanges,
} from "./history-store.ts";
import {
  insertJoined,
  type JoinedSpelling,
  replaceStates,
  type StoredState,
  selectStoredStates,
} from "./spellings-store.ts";
import {
  deleteEmailStates,
  deleteStatesIn,
  type GroupState,
  insertDatedGroupStates,
} from "./store.ts";

/* States and their history when a merge is undone: what came from the returning profile goes back (docs/decisions/undo.md). */

interface Returning {
  readonly keptId: string;
  readonly returnedId: string;
  /** The returning profile, and those that had been merged into it. */
  readonly origins: readonly string[];
  readonly groups: readonly {
    readonly groupId: string;
    readonly state: GroupState;
    readonly changedAt: string;
  }[];
  /** The groups in which the kept profile has no state any more. */
  readonly leftGroups: readonly string[];
  /** Entries that later merges added to the history. */
  readonly laterEntries: readonly string[];
  /** Entries that the merge added to it. */
  readonly goneEntries: readonly { readonly id: string; readonly groupId: string }[];
  /** History that was removed with the returning profile. */
  readonly groupHistory: readonly Dated<GroupStateChange>[];
  readonly emailHistory: readonly Dated<EmailStateChange>[];
  readonly joined: readonly JoinedSpelling[];
  /** The address whose state the merge has set. */
  readonly emailState: {
    readonly email: string;
    readonly before: StoredState | null;
    readonly entries: readonly string[];
  } | null;
  /** Whether the address still has the state that the merge has set. */
  isEmailState(now: StoredState | undefined): boolean;
  readonly context: CallRecord;
  readonly clock: Clock;
}

/** As the record of a merge has it. */
type Dated<Row> = Omit<Row, "changedAt"> & { readonly changedAt: string };

const revived = <Row>(row: Dated<Row>): Row =>
  ({ ...row, changedAt: new Date(row.changedAt) }) as unknown as Row;

/** @returns what changed. */
export async function returnSubscriptions(
  tx: Transaction,
  workspaceId: number,
  returning: Returning,
): Promise<NonNullable<Written["subscriptions"]>> {
  const { keptId, returnedId, origins, context } = returning;
  const newest = await selectNewestEntries(
    tx,
    workspaceId,
    keptId,
    returning.goneEntries.map(({ groupId }) => groupId),
    returning.laterEntries,
  );
  const moved = await takeGroupStateChanges(tx, workspaceId, keptId, origins);
  // An entry with a later one is part of what the kept user has done since.
  const isNewest = new Set(newest.map(({ id }) => id));
  const gone = returning.goneEntries.filter(({ id }) => isNewest.has(id)).map(({ id }) => id);
  await deleteGroupEntries(tx, workspaceId, keptId, gone);
  await insertCarriedChanges(tx, workspaceId, [
    ...moved.map((row) => ({
      ...row,
      profileId: returnedId,
      originId: row.originId === returnedId ? null : (row.originId ?? null),
    })),
    ...returning.groupHistory.map(revived),
  ]);
  const left = await deleteStatesIn(tx, workspaceId, keptId, returning.leftGroups);
  const back = returning.groups.map((row) => ({
    ...row,
    profileId: returnedId,
    changedAt: new Date(row.changedAt),
  }));
  await insertDatedGroupStates(tx, workspaceId, back);
  const emailStates = await returnEmailState(tx, workspaceId, returning);
  // Each user who had the address may bring its history: the first who returns does.
  const history = returning.emailHistory.map(revived);
  await insertEmailStateChanges(tx, workspaceId, history, { mayExist: true });
  await insertJoined(tx, workspaceId, returning.joined);
  return {
    groupStates: [
      ...back.map((row) => ({ ...row, before: null, context })),
      ...left.map((row) => ({ ...row, before: row.state, state: null, context })),
    ],
    emailStates,
  };
}

async function returnEmailState(
  tx: Transaction,
  workspaceId: number,
  { emailState, isEmailState, context }: Returning,
): Promise<NonNullable<Written["subscriptions"]>["emailStates"]> {
  if (!emailState) return [];
  const { email, before, entries } = emailState;
  const [now] = await selectStoredStates(tx, workspaceId, [email]);
  if (!now || !isEmailState(now)) return [];
  if (before) await replaceStates(tx, workspaceId, [before]);
  else await deleteEmailStates(tx, workspaceId, [email]);
  await takeEmailStateChanges(
    tx,
    workspaceId,
    entries.map((id) => ({ email, id })),
  );
  const state: EmailState | null = before?.state ?? null;
  if (state === now.state) return [];
  return [{ email, spelling: now.spelling, before: now.state, state, context }];
}
