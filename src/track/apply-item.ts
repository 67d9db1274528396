import type { Workspace } from "../access/workspace.ts";
import type { Fault } from "../problem.ts";
import { applyOperation } from "../profiles/custom-attributes.ts";
import { emailValue } from "../profiles/identifiers.ts";
import { attributeOf, type People, type Person } from "../profiles/people.ts";
import type { Json } from "../profiles/plain-json.ts";
import type {
  EmailState,
  EmailStateRow,
  GroupStateRow,
  SubscriptionChanges,
} from "../subscriptions/states.ts";
import type { AttributesWork, EventWork, Item, PurchaseWork, Verdict } from "./item.ts";

/** Something that happened to a person. */
export type Happened<Work> = Work & { readonly id: string; readonly profileId: string };

/** What the items of a batch come to, gathered in their order. */
export interface Batch {
  readonly people: People;
  readonly events: Happened<EventWork>[];
  readonly purchases: Happened<PurchaseWork>[];
  readonly groupStates: Map<string, GroupStateRow>;
  readonly emailStates: Map<string, EmailStateRow>;
  readonly initialEmailStates: Map<string, EmailStateRow>;
  newId(): string;
}

export const startBatch = (people: People, newId: () => string): Batch => ({
  people,
  events: [],
  purchases: [],
  groupStates: new Map(),
  emailStates: new Map(),
  initialEmailStates: new Map(),
  newId,
});

export const subscriptionChanges = (batch: Batch): SubscriptionChanges => ({
  groupStates: [...batch.groupStates.values()],
  emailStates: [...batch.emailStates.values()],
  initialEmailStates: [...batch.initialEmailStates.values()],
});

/**
 * Applies one item to the batch in memory, whole or not at all: what can fail is tried first.
 *
 * No database is asked here, so that the order of items is exactly the order of their effects.
 *
 * @param at when it counts as done (`People.touch`): whom it names is touched a microsecond after
 *   everybody else whom it reaches.
 */
export function applyItem(batch: Batch, workspace: Workspace, item: Item, at?: number): Verdict {
  const known = batch.people.find(item.who);
  if (!known && !item.creates) return { outcome: "skipped", reason: nobodyThere(item) };
  const { work } = item;
  const custom = work.kind === "attributes" ? tryCustom(known, work) : new Map();
  if ("code" in custom) return { outcome: "refused", fault: custom };

  const person = known ?? batch.people.create(item.who);
  if (work.kind === "attributes") {
    for (const [name, value] of custom) person.customPatch.set(name, value);
    applyAttributes(batch, workspace, person, work, at);
  } else {
    const happened = { id: batch.newId(), profileId: person.id };
    if (work.kind === "event") batch.events.push({ ...work, ...happened });
    else batch.purchases.push({ ...work, ...happened });
  }
  batch.people.touch(person, at === undefined ? undefined : at + 1);
  return { outcome: "applied", profileId: person.id };
}

function nobodyThere({ who }: Item): Fault {
  const name = who.kind === "alias" ? "user_alias" : who.kind;
  return {
    code: "USER_NOT_FOUND",
    message: `no user has this '${name}', and this object makes none`,
  };
}

/** The custom attributes as the operations leave them (null removes), or the first fault. */
function tryCustom(person: Person | undefined, work: AttributesWork): Map<string, Json> | Fault {
  const values = new Map<string, Json>();
  for (const [name, operation] of work.custom) {
    const current = person && attributeOf(person, "custom", name);
    const result = applyOperation(current, operation);
    if ("fault" in result) return result.fault;
    values.set(name, result.value ?? null);
  }
  return values;
}

function applyAttributes(
  batch: Batch,
  workspace: Workspace,
  person: Person,
  work: AttributesWork,
  at: number | undefined,
): void {
  for (const [name, value] of work.standard) {
    person.standardPatch.set(
      name,
      name === "push_tokens" ? mergePushTokens(batch, person, value) : value,
    );
  }
  if (work.phone !== undefined) batch.people.setPhone(person, work.phone);
  if (work.email !== undefined) batch.people.setEmail(person, work.email);
  if (work.emailState !== undefined || work.email) applyEmailState(batch, person, work.emailState);
  for (const group of work.groups) {
    const channel = workspace.groupChannels.get(group.groupId);
    for (const each of sharersOf(batch.people, person, channel !== "email")) {
      batch.groupStates.set(`${each.id} ${group.groupId}`, {
        profileId: each.id,
        groupId: group.groupId,
        state: group.state,
      });
      batch.people.touch(each, at);
    }
  }
}

/**
 * The state belongs to the address. One that is given to a person without an address waits in the
 * profile, and becomes the address's when it is linked, unless the address has a state already
 * (decision: docs/decisions/email-state.md).
 */
function applyEmailState(batch: Batch, person: Person, state: EmailState | undefined): void {
  const { email } = person;
  if (!email) {
    if (state) person.standardPatch.set("email_subscribe", state);
    return;
  }
  const address = emailValue(email);
  const waiting = attributeOf(person, "standard", "email_subscribe") as EmailState | undefined;
  if (waiting) {
    person.standardPatch.set("email_subscribe", null);
    if (!batch.emailStates.has(address) && !batch.initialEmailStates.has(address)) {
      batch.initialEmailStates.set(address, { email: address, state: waiting });
    }
  }
  if (state) batch.emailStates.set(address, { email: address, state });
}

/** spec: Subscription group state. Everybody with the same email, for phone groups also phone. */
function sharersOf(people: People, person: Person, byPhone: boolean): ReadonlySet<Person> {
  const { email, phone } = person;
  return new Set([
    person,
    ...(email ? people.holdersOf("email", emailValue(email)) : []),
    ...(byPhone && phone ? people.holdersOf("phone", phone) : []),
  ]);
}

interface PushToken {
  readonly [member: string]: Json;
  readonly app_id: string;
  readonly token: string;
}

/** Tokens are added to those that are there; null removes all. */
function mergePushTokens(batch: Batch, person: Person, value: Json): Json {
  if (value === null) return null;
  const name = (token: PushToken) => `${token.app_id} ${token.token}`;
  const present = (attributeOf(person, "standard", "push_tokens") ?? []) as readonly PushToken[];
  const tokens = new Map(present.map((token) => [name(token), token]));
  for (const token of value as readonly PushToken[]) {
    const device = tokens.get(name(token))?.device_id ?? batch.newId();
    tokens.set(name(token), { device_id: device, ...token });
  }
  return [...tokens.values()];
}
