import { readFeed } from "../../admin/workspaces/find-workspace.ts";
import type { Clock } from "../../base/clock.ts";
import { addressForm } from "../../base/values/address-form.ts";
import type { EmailState } from "../../base/values/email-states.ts";
import { groupBy } from "../../base/values/group-by.ts";
import type { Json } from "../../base/values/plain-json.ts";
import type { Transaction } from "../../database/database.ts";
import type { MigrationStep, StepState } from "../../database/migrations/steps.ts";
import type { ChangeDraft } from "../changes/change.ts";
import { recordChanges } from "../changes/record-changes.ts";
import { type AddressRow, FIRST_ROW } from "../profiles/spellings-store.ts";
import { deleteIdentifiers, insertIdentifiers } from "../profiles/store.ts";
import { SPELLED_TABLES, type SpelledTable, selectSpelled } from "./count-spellings.ts";
import {
  type EmailStateChange,
  insertEmailStateChanges,
  takeEmailStateChanges,
} from "./history-store.ts";
import {
  insertJoined,
  type JoinedSpelling,
  moveBounces,
  replaceStates,
  type StoredState,
  selectPresent,
  selectStoredStates,
} from "./spellings-store.ts";
import { deleteEmailStates } from "./store.ts";

/*
 * Gives every stored address its form (docs/decisions/addresses.md). Rows move with their bucket. Where two spellings
 * are one address, its users share it, and of its states the refusal stays; otherwise the newer one. A bounce keeps
 * its first time, and the history has the entries of both.
 *
 * The rows are read in the order of their addresses, table after table, so a position is enough to continue. A moved
 * row may be read again: its form is its own form.
 */

/** A transaction takes a few tenths of a second. */
const PAGE = 2_000;

interface Position {
  readonly table: SpelledTable;
  readonly after: AddressRow;
}

/** A row with the form of its address, which differs. */
type Respelled = AddressRow & { readonly form: string };

export const respellAddresses: MigrationStep = {
  name: "addresses",
  async run(tx, { position, report }, clock) {
    const { table, after } = (position as Position | null) ?? {
      table: SPELLED_TABLES[0],
      after: FIRST_ROW,
    };
    const page = await selectSpelled(tx, table, after, PAGE);
    const last = page.at(-1);
    if (!last) return endOf(table, report);
    const changed = page
      .map((row) => ({ ...row, form: addressForm(row.address) }))
      .filter(({ address, form }) => form !== address);
    let joined = 0;
    for (const [workspaceId, rows] of groupBy(changed, (row) => row.workspaceId)) {
      const found = await findJoined(tx, table, rows, after);
      joined += found.length;
      await insertJoined(tx, workspaceId, found);
      await MOVES[table](tx, workspaceId, rows, clock);
    }
    return {
      position: { table, after: last } as unknown as Json,
      report: counted(report, { [table]: changed.length, [`${table}_joined`]: joined }),
      hasMore: true,
    };
  },
};

function endOf(table: SpelledTable, report: StepState["report"]) {
  const next = SPELLED_TABLES[SPELLED_TABLES.indexOf(table) + 1];
  if (!next) return { position: null, report, hasMore: false };
  return { position: { table: next, after: FIRST_ROW } as unknown as Json, report, hasMore: true };
}

function counted(report: StepState["report"], more: StepState["report"]): StepState["report"] {
  const sums = Object.entries(more)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => [name, (report[name] ?? 0) + count]);
  return { ...report, ...Object.fromEntries(sums) };
}

/** The spellings whose form another spelling has already, each once. */
async function findJoined(
  tx: Transaction,
  table: SpelledTable,
  rows: readonly Respelled[],
  after: AddressRow,
): Promise<{ email: string; spelling: string }[]> {
  if (table === "email_state_changes") return [];
  const [{ workspaceId }] = rows as [Respelled];
  const forms = [...new Set(rows.map(({ form }) => form))];
  const taken = new Set(await selectPresent(tx, table, workspaceId, forms));
  const isContinued = (address: string) =>
    after.address === address && after.workspaceId === workspaceId;
  const joined = new Map<string, string>();
  for (const [address, [row]] of groupBy(rows, (each) => each.address)) {
    const { form } = row as Respelled;
    // The page before has counted an address with rows in both.
    if (taken.has(form) && !isContinued(address)) joined.set(address, form);
    taken.add(form);
  }
  return [...joined].map(([spelling, email]) => ({ email, spelling }));
}

type Move = (
  tx: Transaction,
  workspaceId: number,
  rows: readonly Respelled[],
  clock: Clock,
) => Promise<void>;

const MOVES: Readonly<Record<SpelledTable, Move>> = {
  async identifiers(tx, workspaceId, rows) {
    const identifier = (value: string, profileId: string) => ({
      kind: "email" as const,
      value,
      profileId,
    });
    await deleteIdentifiers(
      tx,
      workspaceId,
      rows.map(({ address, id }) => identifier(address, id)),
    );
    await insertIdentifiers(
      tx,
      workspaceId,
      rows.map(({ form, id }) => identifier(form, id)),
    );
  },
  email_states: moveStates,
  hard_bounces: moveBounces,
  async email_state_changes(tx, workspaceId, rows) {
    const formOf = new Map(rows.map(({ address, form }) => [address, form]));
    const changes = await takeEmailStateChanges(
      tx,
      workspaceId,
      rows.map(({ address, id }) => ({ email: address, id })),
    );
    await insertEmailStateChanges(
      tx,
      workspaceId,
      changes.map((change) => ({
        ...change,
        email: formOf.get(change.email) as string,
        spelling: change.email,
      })),
    );
  },
};

/** How the history and the change feed name what decided a state. */
const MADE_BY = { call: "rapport migrate", actorName: null, requestId: "one-form-of-addresses" };
const CHANGED = { type: "email_state.changed", source: MADE_BY.call } as const;

async function moveStates(
  tx: Transaction,
  workspaceId: number,
  rows: readonly Respelled[],
  clock: Clock,
): Promise<void> {
  const addresses = rows.map(({ address }) => address);
  const stored = await selectStoredStates(tx, workspaceId, [
    ...new Set([...addresses, ...rows.map(({ form }) => form)]),
  ]);
  const stateOf = new Map(stored.map((row) => [row.email, row]));
  const kept: StoredState[] = [];
  const joined: JoinedSpelling[] = [];
  const entries: EmailStateChange[] = [];
  const drafts: ChangeDraft[] = [];
  for (const [form, spelled] of groupBy(rows, (row) => row.form)) {
    let standing = stateOf.get(form);
    const states = new Set<EmailState>();
    for (const { address } of spelled) {
      const own = stateOf.get(address) as StoredState;
      const other = standing;
      if (!other || prevails(own, other)) standing = own;
      if (!other) continue;
      const keptState = (standing as StoredState).state;
      joined.push({
        email: form,
        spelling: address,
        state: own.state,
        otherState: other.state,
        keptState,
      });
      states.add(own.state).add(other.state);
    }
    const { email: spelling, state } = standing as StoredState;
    if (spelling !== form) kept.push({ ...(standing as StoredState), email: form, spelling });
    // A change of a state that differed, so that the newest entry of the history is the state.
    states.delete(state);
    for (const before of states) {
      const change = { id: clock.newId(), changedAt: clock.now(), context: MADE_BY };
      entries.push({ email: form, spelling, state, ...change });
      drafts.push({ ...CHANGED, user: undefined, email: spelling, before, after: state });
    }
  }
  await deleteEmailStates(tx, workspaceId, addresses);
  await replaceStates(tx, workspaceId, kept);
  await insertJoined(tx, workspaceId, joined);
  await insertEmailStateChanges(tx, workspaceId, entries);
  const feed = drafts.length > 0 ? await readFeed(tx, workspaceId) : null;
  if (feed !== null) await recordChanges(tx, workspaceId, feed, { drafts }, clock);
}

/** A refusal before any other state, then the newer one. Times are texts of one form. */
function prevails(one: StoredState, other: StoredState): boolean {
  const refuses = ({ state }: StoredState) => state === "unsubscribed";
  if (refuses(one) !== refuses(other)) return refuses(one);
  return one.setAt > other.setAt;
}
