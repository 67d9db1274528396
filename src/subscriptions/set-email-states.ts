import type { Workspace } from "../access/workspace.ts";
import { type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { allDone, type Transaction, withRetries } from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import type { Who } from "../profiles/identifiers.ts";
import { loadPeople } from "../profiles/load-people.ts";
import { savePeople } from "../profiles/save-people.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { deleteEmailStateChanges } from "./history-store.ts";
import type { SetServices } from "./set-group-states.ts";
import { type EmailState, writeSubscriptions } from "./states.ts";
import { deleteEmailStates } from "./store.ts";

/**
 * Sets the email state of addresses, also of those that nobody has yet: it holds for whoever gets the
 * address later. spec: POST /email/status, Email subscription state.
 *
 * @param addresses identifiers of the kind email.
 */
export function setEmailStates(
  { database, clock }: SetServices,
  workspace: Workspace,
  addresses: readonly Who[],
  state: EmailState,
  call: Call,
): Promise<void> {
  return withRetries(database, async (tx, attempt) => {
    await touchHolders(tx, workspace.id, addresses, clock, attempt);
    const emailStates = addresses.map(({ value }) => ({ email: value, state, call }));
    const changes = { groupStates: [], emailStates, initialEmailStates: [] };
    await writeSubscriptions(tx, workspace.id, changes, clock);
  });
}

/**
 * Removes the state of an address and its history, for somebody who wants to be forgotten altogether:
 * from then on the address is one that was never given a state. The audit knows that it was done, and
 * not of which address.
 *
 * @returns whether there was a state.
 * @throws Problem NOT_FOUND for the workspace. design: Subscription sets.
 */
export async function eraseEmailState(
  { database, clock }: SetServices,
  workspaceName: string,
  origin: Origin,
  address: Who,
): Promise<boolean> {
  const workspace = await findWorkspace(database, workspaceName);
  return withRetries(database, async (tx, attempt) => {
    await touchHolders(tx, workspace.id, [address], clock, attempt);
    const [erased] = await allDone([
      deleteEmailStates(tx, workspace.id, [address.value]),
      deleteEmailStateChanges(tx, workspace.id, [address.value]),
    ]);
    if (erased.length === 0) return false;
    const place = { workspace: workspaceName, name: workspaceName };
    const change = { action: "erased", kind: "email_state", ...place };
    await recordChanges(tx, clock, origin, [change]);
    return true;
  });
}

/** Locks everybody who has one of the addresses; they count as updated now. */
async function touchHolders(
  tx: Transaction,
  workspaceId: number,
  addresses: readonly Who[],
  { now, newId }: Clock,
  attempt: number,
): Promise<void> {
  const needs = addresses.map((who) => ({ who, reads: false, addresses: [], spreads: false }));
  const people = await loadPeople(tx, workspaceId, needs, { newId, lock: attempt > 1 });
  for (const { value } of addresses) {
    for (const person of people.holdersOf("email", value)) people.touch(person);
  }
  await savePeople(tx, workspaceId, people.changes(now()));
}
