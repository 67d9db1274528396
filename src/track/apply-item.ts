import type { Workspace } from "../access/workspace.ts";
import type { Call } from "../http/endpoint.ts";
import type { Fault } from "../problem.ts";
import { applyOperation, needsCurrent } from "../profiles/custom-attributes.ts";
import { emailValue } from "../profiles/identifiers.ts";
import { attributeOf, type People, type Person, setAttribute } from "../profiles/people.ts";
import type { Json } from "../profiles/plain-json.ts";
import { sharersOf } from "../subscriptions/sharers.ts";
import type {
  EmailState,
  EmailStateSet,
  GroupStateSet,
  SubscriptionChanges,
} from "../subscriptions/states.ts";
import type { AttributesWork, EventWork, Item, PurchaseWork, Verdict } from "./item.ts";

/** On whose behalf an item is applied, and by which call. */
export interface Behalf {
  readonly workspace: Workspace;
  readonly call: Call;
}

/** Something that happened to a person. */
export interface Happened<Work> {
  readonly id: string;
  readonly profileId: string;
  readonly work: Work;
}

/** What the items of a batch come to, gathered in their order. */
export interface Batch {
  readonly people: People;
  readonly events: Happened<EventWork>[];
  readonly purchases: Happened<PurchaseWork>[];
  readonly groupStates: GroupStateSet[];
  readonly emailStates: EmailStateSet[];
  readonly initialEmailStates: Map<string, EmailStateSet>;
  newId(): string;
}

export const startBatch = (people: People, newId: () => string): Batch => ({
  people,
  events: [],
  purchases: [],
  groupStates: [],
  emailStates: [],
  initialEmailStates: new Map(),
  newId,
});

export const subscriptionChanges = (batch: Batch): SubscriptionChanges => ({
  groupStates: batch.groupStates,
  emailStates: batch.emailStates,
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
export function applyItem(batch: Batch, behalf: Behalf, item: Item, at?: number): Verdict {
  const known = batch.people.find(item.who);
  if (!known && !item.creates) return { outcome: "skipped", reason: nobodyThere(item) };
  const { work } = item;
  const custom = work.kind === "attributes" ? tryCustom(known, work) : [];
  if ("code" in custom) return { outcome: "refused", fault: custom };

  const person = known ?? batch.people.create(item.who);
  if (work.kind === "attributes") {
    for (const [index, { name }] of work.custom.entries()) {
      setAttribute(person, "custom", name, custom[index] ?? null);
    }
    applyAttributes(batch, behalf, person, work, at);
  } else {
    const id = batch.newId();
    if (work.kind === "event") batch.events.push({ id, profileId: person.id, work });
    else batch.purchases.push({ id, profileId: person.id, work });
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

/** The values that the operations leave, in their order (null removes), or the first fault. */
function tryCustom(person: Person | undefined, work: AttributesWork): readonly Json[] | Fault {
  const values: Json[] = [];
  for (const operation of work.custom) {
    const { name } = operation;
    const current =
      person && needsCurrent(operation) ? attributeOf(person, "custom", name) : undefined;
    const result = applyOperation(current, operation);
    if ("fault" in result) return result.fault;
    values.push(result.value ?? null);
  }
  return values;
}

function applyAttributes(
  batch: Batch,
  { workspace, call }: Behalf,
  person: Person,
  work: AttributesWork,
  at: number | undefined,
): void {
  for (const [name, value] of work.standard) {
    const merged = name === "push_tokens" ? mergePushTokens(batch, person, value) : value;
    setAttribute(person, "standard", name, merged);
  }
  if (work.phone !== undefined) batch.people.setPhone(person, work.phone);
  if (work.email !== undefined) batch.people.setEmail(person, work.email);
  if (work.emailState !== undefined || work.email) {
    applyEmailState(batch, call, person, work.emailState);
  }
  for (const group of work.groups) {
    const channel = workspace.groupChannels.get(group.groupId);
    for (const each of sharersOf(batch.people, [person], channel)) {
      batch.groupStates.push({ profileId: each.id, ...group, call });
      batch.people.touch(each, at);
    }
  }
}

/**
 * The state belongs to the address. One that is given to a person without an address waits in the
 * profile, and becomes the address's when it is linked, unless the address has a state already
 * (decision: docs/decisions/email-state.md).
 */
function applyEmailState(
  batch: Batch,
  call: Call,
  person: Person,
  state: EmailState | undefined,
): void {
  const { email } = person;
  if (!email) {
    if (state) setAttribute(person, "standard", "email_subscribe", state);
    return;
  }
  const address = emailValue(email);
  const waiting = attributeOf(person, "standard", "email_subscribe") as EmailState | undefined;
  if (waiting) setAttribute(person, "standard", "email_subscribe", null);
  if (state) batch.emailStates.push({ email: address, state, call });
  else if (waiting && !hasState(batch, address)) {
    batch.initialEmailStates.set(address, { email: address, state: waiting, call });
  }
}

const hasState = ({ emailStates, initialEmailStates }: Batch, address: string): boolean =>
  initialEmailStates.has(address) || emailStates.some(({ email }) => email === address);

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
