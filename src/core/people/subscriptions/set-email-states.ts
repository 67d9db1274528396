import { recordChangeIn } from "../../admin/audit/audit.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { afterAll } from "../../base/turns.ts";
import { spellingOf } from "../../base/values/address-form.ts";
import type { EmailState } from "../../base/values/email-states.ts";
import type { Transaction } from "../../database/database.ts";
import type { PersonIdentifier } from "../profiles/identifiers.ts";
import { readPeople } from "../profiles/load-people.ts";
import type { Person } from "../profiles/people.ts";
import { type ProfileTouch, touchProfiles } from "../profiles/update-profiles-store.ts";
import {
  type FollowedWorkspace,
  type PeopleServices,
  writePeople,
} from "../profiles/write-people.ts";
import type { Written } from "../profiles/written.ts";
import { forgetAddress } from "./person-states.ts";
import type { SettingContext } from "./set-group-states.ts";
import { leastRecentFirst } from "./sharers.ts";
import { writeSubscriptions } from "./states.ts";

/**
 * Sets the email state of addresses; for one without a user it applies as soon as a user gets the address.
 * spec: POST /email/status, Email subscription state.
 *
 * @param addresses identifiers of the kind email.
 * @param alsoWrite runs in the same transaction.
 */
export const setEmailStates = (
  services: PeopleServices,
  context: SettingContext,
  addresses: readonly PersonIdentifier[],
  state: EmailState,
  alsoWrite?: (tx: Transaction) => Promise<void>,
): Promise<void> =>
  setEachEmailState(
    services,
    context,
    addresses.map((address) => ({ address, state })),
    alsoWrite,
  );

/** Sets states in their order; an address may have several. Its users are read and marked once. */
export async function setEachEmailState(
  services: PeopleServices,
  context: SettingContext,
  sets: readonly { readonly address: PersonIdentifier; readonly state: EmailState }[],
  alsoWrite?: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { workspace } = context;
  const addresses = [...new Map(sets.map(({ address }) => [address.value, address])).values()];
  await touchHolders(services, workspace, addresses, async (tx) => {
    const emailStates = sets.map(({ address, state }) => ({
      ...spelledOf(address),
      state,
      context,
    }));
    const changes = { groupStates: [], emailStates, linkedEmailStates: [] };
    const subscriptions = await writeSubscriptions(tx, workspace.id, changes, services.clock);
    await alsoWrite?.(tx);
    return { subscriptions };
  });
}

/**
 * Erases everything stored for an address, as if it never had a state. The audit records the erasure, not the
 * address. docs/decisions/email-state.md
 *
 * @returns whether anything was stored.
 */
export async function eraseEmailState(
  services: PeopleServices,
  context: WorkspaceContext,
  address: PersonIdentifier,
): Promise<boolean> {
  const { workspace } = context;
  let wasStored = false;
  await touchHolders(services, workspace, [address], async (tx) => {
    wasStored = await forgetAddress(tx, workspace.id, address.value);
    if (!wasStored) return {};
    const change = { action: "erased", kind: "email_state", name: workspace.name };
    await recordChangeIn(tx, services.clock, context, change);
    return {};
  });
  return wasStored;
}

/** How an address is stored, and how it was written. */
export const spelledOf = (identifier: PersonIdentifier) => ({
  email: identifier.value,
  spelling: identifier.kind === "email" ? spellingOf(identifier.address) : null,
});

const touchOf = ({ id, stored }: Person, updatedAtMicros: number): ProfileTouch => ({
  id,
  updatedAtMicros,
  version: null,
  addresses: stored,
});

/** Locks all users of the addresses, marks them as updated now, and writes something about the addresses. */
async function touchHolders(
  services: PeopleServices,
  workspace: FollowedWorkspace,
  addresses: readonly PersonIdentifier[],
  write: (tx: Transaction) => Promise<Written>,
): Promise<void> {
  const { clock } = services;
  const { newId } = clock;
  const targets = addresses.map((identifier) => ({
    identifier,
    // The feed names a user who has the address.
    reads: workspace.feed !== null,
    addresses: [],
    affectsSharers: false,
    namesEveryHolder: true,
  }));
  const options = { newId, bare: workspace.feed === null };
  // Without an address cache: the holders are read in the transaction that locks them.
  const writing = { ...services, addressCache: undefined };
  await writePeople(writing, workspace, { names: addresses }, async (each) => {
    const people = await readPeople(each.reading, workspace.id, targets, options);
    const now = clock.now().getTime() * 1_000;
    const holders = new Set<Person>();
    for (const { value } of addresses) {
      const those = people.holdersOf("email", value);
      await afterAll(those);
      for (const person of leastRecentFirst(those)) holders.add(person);
      await afterAll(those);
    }
    const touches = [...holders].map((person, order) => touchOf(person, now + order));
    await afterAll(touches);
    const names = workspace.feed !== null ? [...holders].flatMap(({ stored }) => stored ?? []) : [];
    await each.write(async (tx) => {
      await touchProfiles(tx, workspace.id, touches);
      return { names, ...(await write(tx)) };
    });
  });
}
