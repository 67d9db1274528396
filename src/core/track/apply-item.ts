import type { Clock } from "../base/clock.ts";
import type { Context, WorkspaceContext } from "../base/context/context.ts";
import type { Fault } from "../base/problem.ts";
import { spellingOf } from "../base/values/address-form.ts";
import { printable } from "../base/values/describe-value.ts";
import type { EmailState } from "../base/values/email-states.ts";
import { refusedAt } from "../base/values/findings.ts";
import type { Json } from "../base/values/plain-json.ts";
import { startWork, type WorkBudget } from "../base/work.ts";
import { addPushTokens, type PushToken } from "../people/profiles/attribute-rules/push-tokens.ts";
import {
  budgetsOfItem,
  startRequestWork,
} from "../people/profiles/attribute-rules/work-budgets.ts";
import { applyOperation, needsCurrent } from "../people/profiles/custom-attributes.ts";
import { BLOCKED, emailValue } from "../people/profiles/identifiers.ts";
import { attributeOf, type People, type Person, setAttribute } from "../people/profiles/people.ts";
import { countAgainstQuota } from "../people/profiles/profile-quota.ts";
import type { Occurrence } from "../people/profiles/written.ts";
import type { BatchQuotas } from "../people/quotas/quotas.ts";
import { MOST_STATES, sharersOf } from "../people/subscriptions/sharers.ts";
import type {
  EmailStateSet,
  GroupStateSet,
  LinkedEmailState,
  SubscriptionChanges,
} from "../people/subscriptions/states.ts";
import {
  parsePending,
  prevails,
  storedPending,
  type WaitingState,
} from "../people/subscriptions/waiting-state.ts";
import type { AttributesWork, EventWork, Item, PurchaseWork, Verdict } from "./item.ts";

/** The writes of a batch's items, gathered in their order. */
export interface Batch {
  readonly people: People;
  readonly events: Occurrence<EventWork>[];
  readonly purchases: Occurrence<PurchaseWork>[];
  readonly groupStates: GroupStateSet[];
  readonly emailStates: (EmailStateSet & WaitingState)[];
  /** By address. */
  readonly linkedEmailStates: Map<string, LinkedEmailState>;
  /** By address, for items in which `emailStates` sets the address before it is linked. */
  readonly relinkedEmailStates: Map<string, LinkedEmailState>;
  /** Counts the items about an email state, so that each gets its own time. */
  emailStateCount: number;
  /** Later than all that its items did so far, in microseconds since the epoch: an item counts as done after those before it. */
  nextMoment: number;
  readonly now: Date;
  readonly quotas: BatchQuotas | undefined;
  newId(): string;
}

/**
 * An empty batch over these people.
 *
 * @param quotas undefined where names and users are not limited.
 */
export const startBatch = (
  people: People,
  { now, newId }: Clock,
  quotas: BatchQuotas | undefined,
): Batch => ({
  people,
  events: [],
  purchases: [],
  groupStates: [],
  emailStates: [],
  linkedEmailStates: new Map(),
  relinkedEmailStates: new Map(),
  emailStateCount: 0,
  nextMoment: 0,
  now: now(),
  quotas,
  newId,
});

/** The work of the objects of one request so far. */
export interface RequestWork {
  /** Operations on custom attributes. */
  readonly operations: WorkBudget;
  /** States of groups: each group counts for every user of an address. */
  readonly states: WorkBudget;
}

export const startRequest = (): RequestWork => ({
  operations: startRequestWork(),
  states: startWork(MOST_STATES),
});

/** The changes of the batch to subscriptions, in the order of its items. */
export const subscriptionChanges = (batch: Batch): SubscriptionChanges => ({
  groupStates: batch.groupStates,
  emailStates: batch.emailStates,
  linkedEmailStates: [...batch.linkedEmailStates.values()],
  relinkedEmailStates: [...batch.relinkedEmailStates.values()],
});

/**
 * Applies one item to the batch in memory, as a whole or not at all: everything that can fail is
 * checked first. This runs without the database, so items take effect exactly in their order.
 *
 * @param requestWork the work of the request's objects so far.
 * @param moment when it counts as done (`People.touch`), or later if the items before it have
 *   affected many: the named user is touched a microsecond after the others, who keep their order.
 */
export function applyItem(
  batch: Batch,
  context: WorkspaceContext,
  item: Item,
  requestWork: RequestWork,
  moment?: number,
): Verdict {
  const known = batch.people.find(item.identifier);
  if (!known && item.identifier.kind === "email" && item.identifier.refusal) {
    return { outcome: "refused", fault: item.identifier.refusal };
  }
  if (!known && !item.creates) return { outcome: "skipped", reason: nobodyThere(item) };
  const { work } = item;
  if (known && isBlocked(context, known)) return { outcome: "refused", fault: BLOCKED };
  const custom =
    work.kind === "attributes" ? tryCustom(known, work, requestWork.operations) : NOTHING_CUSTOM;
  if ("code" in custom) return { outcome: "refused", fault: custom };
  const changes = work.kind === "attributes" ? customChanges(work, custom.values) : [];
  const mostBytes = context.workspace.settings.profile_max_bytes;
  const bytes = changes.length > 0 ? countAgainstQuota(known, changes, mostBytes) : undefined;
  if (typeof bytes === "object") return { outcome: "refused", fault: bytes };
  if (work.kind === "attributes" && !maySetStates(batch, known, work, requestWork)) {
    return { outcome: "refused", fault: TOO_MANY_STATES };
  }

  const overQuota =
    batch.quotas?.refusalOf(item) ?? (known ? undefined : batch.quotas?.refuseUser());
  if (overQuota) return { outcome: "refused", fault: overQuota };

  const person = known ?? batch.people.create(item.identifier);
  const at = moment === undefined ? undefined : Math.max(moment, batch.nextMoment);
  if (work.kind === "attributes") {
    for (const [name, value] of changes) setAttribute(person, "custom", name, value);
    if (bytes !== undefined) person.customBytes = bytes;
    applyAttributes(batch, context, person, work, at);
  } else {
    const id = batch.newId();
    if (work.kind === "event") batch.events.push({ id, profileId: person.id, work });
    else batch.purchases.push({ id, profileId: person.id, work });
  }
  batch.people.touch(person, at === undefined ? undefined : at + 1);
  batch.nextMoment = (person.updatedAt ?? 0) + 1;
  const { unmatched } = custom;
  return unmatched.length === 0
    ? { outcome: "applied", profileId: person.id }
    : { outcome: "applied", profileId: person.id, note: nothingMatched(unmatched) };
}

const customChanges = ({ custom }: AttributesWork, values: readonly Json[]) =>
  custom.map(({ name }, index) => [name, values[index] ?? null] as const);

/** Whether an address, an alias or a platform_id gave a user whose external_id is blocked. */
const isBlocked = ({ workspace }: WorkspaceContext, { externalId }: Person): boolean =>
  !!externalId && workspace.settings.blocked_external_ids.includes(externalId);

function nobodyThere({ identifier }: Item): Fault {
  const name = identifier.kind === "alias" ? "user_alias" : identifier.kind;
  return {
    code: "USER_NOT_FOUND",
    message: `no user has this '${name}', and this object does not create one`,
  };
}

interface CustomValues {
  /** In the order of the operations; null removes. */
  readonly values: readonly Json[];
  /** The parts of operations that found no object to change, such as `pets.$update[1]`. */
  readonly unmatched: readonly string[];
}

const NOTHING_CUSTOM: CustomValues = { values: [], unmatched: [] };

function nothingMatched([first = "", ...others]: readonly string[]): Fault {
  const verb = others.length === 0 ? "matches" : `and ${others.length} more match`;
  return {
    code: "NO_MATCHING_OBJECT",
    message: `'${printable(first, MOST_CHARACTERS)}' ${verb} no object of the array`,
  };
}

/** A longer place is cut in the sentence. */
const MOST_CHARACTERS = 200;

/** The values that the operations leave, or the first fault. */
function tryCustom(
  person: Person | undefined,
  work: AttributesWork,
  requestWork: WorkBudget,
): CustomValues | Fault {
  const values: Json[] = [];
  const unmatched: string[] = [];
  const budgets = budgetsOfItem(requestWork);
  for (const operation of work.custom) {
    const { name } = operation;
    const current =
      person && needsCurrent(operation) ? attributeOf(person, "custom", name) : undefined;
    const result = applyOperation(current, operation, budgets);
    if ("fault" in result) return result.fault;
    values.push(result.value ?? null);
    if ("unmatched" in result)
      for (const part of result.unmatched) unmatched.push(`${name}.${part}`);
  }
  return { values, unmatched };
}

const TOO_MANY_STATES: Fault = refusedAt(
  "subscription_groups",
  "WORK_LIMIT_EXCEEDED",
  `sets more than ${MOST_STATES} states in one request: each group counts for every user of an address; send fewer`,
).fault;

/** Counts the states that an item sets, unless they are too many. The first item of a request may set one group of any users. */
function maySetStates(
  { people }: Batch,
  known: Person | undefined,
  { groups, email = known?.email, phone = known?.phone }: AttributesWork,
  { states }: RequestWork,
): boolean {
  if (groups.length === 0) return true;
  const users =
    1 +
    (email ? people.holdersOf("email", emailValue(email)).length : 0) +
    (phone ? people.holdersOf("phone", phone).length : 0);
  const count = groups.length * users;
  const isFirst = states.spent === 0 && groups.length === 1;
  if (!isFirst && states.spent + count > states.limit) return false;
  states.spent += count;
  return true;
}

function applyAttributes(
  batch: Batch,
  context: WorkspaceContext,
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
    applyEmailState(batch, context, person, work.emailState, at);
  }
  for (const group of work.groups) {
    const channel = context.workspace.groupChannels.get(group.groupId);
    const reached = sharersOf(batch.people, [person], channel);
    // They keep their order, and the named user becomes the most recently updated of them.
    for (const [order, each] of [...reached.filter((one) => one !== person), person].entries()) {
      batch.groupStates.push({ profileId: each.id, ...group, context });
      batch.people.touch(each, at === undefined ? undefined : at + order);
    }
  }
}

/**
 * The state belongs to the address. Without an address it is pending in the profile, and applies to
 * the address linked later unless that has a newer state (docs/decisions/email-state.md).
 */
function applyEmailState(
  batch: Batch,
  context: Context,
  person: Person,
  state: EmailState | undefined,
  at: number | undefined,
): void {
  const { email } = person;
  const setAt = at ?? batch.now.getTime() * 1_000 + batch.emailStateCount++;
  if (!email) {
    if (state) setAttribute(person, "standard", "email_subscribe", storedPending({ state, setAt }));
    return;
  }
  const address = emailValue(email);
  const waiting = parsePending(attributeOf(person, "standard", "email_subscribe"));
  if (waiting) setAttribute(person, "standard", "email_subscribe", null);
  const named = { email: address, spelling: spellingOf(email), context };
  if (state) setEmailState(batch, { ...named, state, setAt });
  else if (waiting) linkEmailState(batch, named, waiting);
}

function setEmailState(batch: Batch, set: EmailStateSet & WaitingState): void {
  batch.emailStates.push(set);
  batch.relinkedEmailStates.delete(set.email);
}

/**
 * Only the database knows whether an earlier state of the batch changed the address or repeated its state, and
 * that decides whether a pending older state applies.
 */
function linkEmailState(
  batch: Batch,
  named: Pick<LinkedEmailState, "email" | "spelling" | "context">,
  waiting: WaitingState,
): void {
  const { email } = named;
  const set = batch.emailStates.findLast((row) => row.email === email);
  if (set && waiting.setAt > set.setAt) {
    setEmailState(batch, { ...named, ...waiting });
    return;
  }
  const links = set ? batch.relinkedEmailStates : batch.linkedEmailStates;
  const other = links.get(email);
  if (!other || prevails(waiting, other)) links.set(email, { ...named, ...waiting });
}

/** Tokens are added to the present ones; null removes all. */
function mergePushTokens(batch: Batch, person: Person, value: Json): Json {
  if (value === null) return null;
  const stored = (attributeOf(person, "standard", "push_tokens") ?? []) as readonly PushToken[];
  return addPushTokens(stored, value as readonly PushToken[], batch.newId);
}
