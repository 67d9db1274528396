import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { accepted, type Checked, refused } from "../../core/base/problem.ts";
import { type EmailState, EmailStateName } from "../../core/base/values/email-states.ts";
import { findUnstorable } from "../../core/base/values/plain-json.ts";
import { within, withRetries } from "../../core/database/database.ts";
import { sentenceOf } from "../../core/http/validation-sentence.ts";
import { checkAlias, type PersonIdentifier } from "../../core/people/profiles/identifiers.ts";
import {
  CHECK_OF,
  groupIdOf,
  NAME_KINDS,
  required,
} from "../../core/people/subscriptions/check-names.ts";
import { findRefused } from "../../core/people/subscriptions/refuse-unseen.ts";
import { setEachEmailState } from "../../core/people/subscriptions/set-email-states.ts";
import { type GroupSet, setGroupStates } from "../../core/people/subscriptions/set-group-states.ts";
import type { GroupState } from "../../core/people/subscriptions/states.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import { type Commit, noteOn, type RowNote } from "./import-kind.ts";

const Id = Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()]));

/** With a group it sets the state of users in it; otherwise the email state of an address. */
const SubscriptionRow = Type.Object({
  external_id: Id,
  user_alias: Type.Optional(Type.Unknown()),
  email: Id,
  phone: Id,
  subscription_group_id: Id,
  subscription_state: EmailStateName,
});

const validator = Compile(SubscriptionRow);

/**
 * The identifiers of a user: as in a set of states, and the alias of a user who has nothing else.
 */
const NAMES = [...NAME_KINDS, "user_alias"] as const;

type CheckedRow =
  | { readonly kind: "group"; readonly set: GroupSet }
  | { readonly kind: "email"; readonly address: PersonIdentifier; readonly state: EmailState };

/**
 * Sets the states of rows in their order, by the rules of `/v2/subscription/status/set` and `/email/status`: no
 * profile is created, and an email or a phone names every user who has it.
 */
export async function importSubscriptions(
  services: WriteServices,
  context: WorkspaceContext,
  rows: readonly unknown[],
  commit: Commit,
): Promise<void> {
  const rejected: RowNote[] = [];
  const sets: GroupSet[] = [];
  const emails: { address: PersonIdentifier; state: EmailState }[] = [];
  const all = rows.map((row, index) => checkRow(context, row, index));
  const identifiers = all.flatMap((each) => ("fault" in each ? [] : identifiersOf(each.value)));
  const refused = await findRefused(services.database, context.workspace, identifiers);
  for (const [index, checked] of all.entries()) {
    const fault =
      "fault" in checked
        ? checked.fault
        : identifiersOf(checked.value).flatMap((each) => refused.get(each) ?? [])[0];
    if (fault) rejected.push(noteOn(index, "rejected", fault));
    else if ("fault" in checked) continue;
    else if (checked.value.kind === "group") sets.push(checked.value.set);
    else emails.push(checked.value);
  }
  await withRetries(services.database, async (tx) => {
    const own = { ...services, database: within(services.database, tx) };
    const skipped = sets.length > 0 ? await setGroupStates(own, context, sets) : [];
    if (emails.length > 0) await setEachEmailState(own, context, emails);
    await commit(tx, [...rejected, ...skipped.map((note) => noteOn(note.index, "skipped", note))]);
  });
}

const identifiersOf = (row: CheckedRow): PersonIdentifier[] =>
  row.kind === "email" ? [row.address] : row.set.named.map(({ identifier }) => identifier);

function checkRow(context: WorkspaceContext, row: unknown, index: number): Checked<CheckedRow> {
  const unstorable = findUnstorable(row, "");
  if (unstorable) return { fault: unstorable };
  if (!validator.Check(row)) {
    return refused("INVALID_ROW", sentenceOf(validator.Errors(row), "row"));
  }
  const given = NAMES.filter((kind) => row[kind] !== undefined && row[kind] !== null);
  const [kind, second] = given;
  if (!kind) return refused("MISSING_IDENTIFIER", required(NAMES));
  if (second) {
    return refused("MULTIPLE_IDENTIFIERS", `'${kind}' and '${second}' are given; name one of them`);
  }
  const identifier = checkIdentifier(kind, row[kind]);
  if ("fault" in identifier) return identifier;
  const group = row.subscription_group_id;
  if (group === undefined || group === null) return checkEmail(identifier.value, row);
  const groupId = groupIdOf(context.workspace, String(group));
  if (groupId === undefined) {
    const rule = "is not a subscription group of this workspace";
    return refused("INVALID_SUBSCRIPTION_GROUP_ID", `'subscription_group_id' ${rule}`);
  }
  const state = row.subscription_state;
  if (state === "opted_in") {
    const rule = "must be one of subscribed, unsubscribed in a subscription group";
    return refused("INVALID_ROW", `'subscription_state' ${rule}`);
  }
  const named = [{ identifier: identifier.value, place: { input_array: "rows", index } }];
  return accepted({ kind: "group", set: { groupId, state: state as GroupState, named } });
}

function checkIdentifier(kind: (typeof NAMES)[number], value: unknown): Checked<PersonIdentifier> {
  // Its faults name the member.
  if (kind === "user_alias") return checkAlias(value);
  const checked = CHECK_OF[kind](value);
  if (!("fault" in checked)) return checked;
  const { code, message } = checked.fault;
  return refused(code, `'${kind}' is not valid: ${message}`);
}

function checkEmail(
  identifier: PersonIdentifier,
  { subscription_state: state }: Static<typeof SubscriptionRow>,
): Checked<CheckedRow> {
  if (identifier.kind !== "email") {
    const rule = "is required, except in a row that sets the email state of an address";
    return refused("INVALID_ROW", `'subscription_group_id' ${rule}`);
  }
  return accepted({ kind: "email", address: identifier, state });
}
