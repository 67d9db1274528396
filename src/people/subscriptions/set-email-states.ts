import { recordChangeIn } from "../../admin/audit/audit.ts";
import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { type Transaction, withRetries } from "../../database/database.ts";
import type { PersonIdentifier } from "../profiles/identifiers.ts";
import { loadPeople } from "../profiles/load-people.ts";
import { savePeople } from "../profiles/save-people.ts";
import { forgetAddress } from "./person-states.ts";
import type { SetServices, SettingContext } from "./set-group-states.ts";
import { type EmailState, writeSubscriptions } from "./states.ts";

/**
 * Sets the email state of addresses; for one without a user it applies as soon as a user gets the address.
 * spec: POST /email/status, Email subscription state.
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
 * Erases everything stored for an address, as if it never had a state. The audit records the erasure, not the
 * address. docs/decisions/email-state.md
 *
 * @returns whether anything was stored.
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
    const change = { action: "erased", kind: "email_state", name: workspace.name };
    await recordChangeIn(tx, clock, context, change);
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
