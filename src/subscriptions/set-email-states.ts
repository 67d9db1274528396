import { recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { WorkspaceContext } from "../context/context.ts";
import { type Transaction, withRetries } from "../database/database.ts";
import type { PersonIdentifier } from "../people/identifiers.ts";
import { loadPeople } from "../people/load-people.ts";
import { savePeople } from "../people/save-people.ts";
import { forgetAddress } from "./person-states.ts";
import type { SetServices, SettingContext } from "./set-group-states.ts";
import { type EmailState, writeSubscriptions } from "./states.ts";

/**
 * Sets the email state of addresses, used or not: it applies to any user who gets the address later. spec: POST /email/status, Email subscription state.
 *
 * @param addresses identifiers of the kind email.
 * @param alsoWrite runs in the same transaction.
 */
export function setEmailStates(
  { database, clock }: SetServices,
  context: SettingContext,
  addresses: readonly PersonIdentifier[],
  state: EmailState,
  alsoWrite?: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { workspace } = context;
  return withRetries(database, async (tx, attempt) => {
    await touchHolders(tx, workspace.id, addresses, clock, attempt);
    const emailStates = addresses.map(({ value }) => ({ email: value, state, context }));
    const changes = { groupStates: [], emailStates, linkedEmailStates: [] };
    await writeSubscriptions(tx, workspace.id, changes, clock);
    await alsoWrite?.(tx);
  });
}

/**
 * Removes the state of an address and its history, for a user who wants to be forgotten altogether:
 * from then on the address is one that was never given a state. The audit knows that it was done, and
 * not of which address.
 *
 * @returns whether there was a state.
 * @throws Problem NOT_FOUND for the workspace. docs/decisions/email-state.md
 */
export async function eraseEmailState(
  { database, clock }: SetServices,
  context: WorkspaceContext,
  address: PersonIdentifier,
): Promise<boolean> {
  const { workspace } = context;
  return withRetries(database, async (tx, attempt) => {
    await touchHolders(tx, workspace.id, [address], clock, attempt);
    if (!(await forgetAddress(tx, workspace.id, address.value))) return false;
    const { name } = workspace;
    const change = { action: "erased", kind: "email_state", workspace: name, name };
    await recordChanges(tx, clock, context, [change]);
    return true;
  });
}

/** Locks all users of the addresses and marks them as updated now. */
async function touchHolders(
  tx: Transaction,
  workspaceId: number,
  addresses: readonly PersonIdentifier[],
  { now, newId }: Clock,
  attempt: number,
): Promise<void> {
  const targets = addresses.map((identifier) => ({
    identifier,
    reads: false,
    addresses: [],
    spreads: false,
  }));
  const people = await loadPeople(tx, workspaceId, targets, { newId, lock: attempt > 1 });
  for (const { value } of addresses) {
    for (const person of people.holdersOf("email", value)) people.touch(person);
  }
  await savePeople(tx, workspaceId, people.changes(now()));
}
