import { MOST_GROUPS, type Workspace } from "../base/context/workspace.ts";
import type { Intake } from "../base/context/workspace-settings.ts";
import { accepted, type Checked, type Fault, refused } from "../base/problem.ts";
import type { EmailState } from "../base/values/email-states.ts";
import type { Json } from "../base/values/plain-json.ts";
import {
  type AttributeOperation,
  checkCustomAttribute,
  needsCurrent,
} from "../people/profiles/custom-attributes.ts";
import { emailValue } from "../people/profiles/identifiers.ts";
import type { GivenAddress } from "../people/profiles/load-people.ts";
import {
  checkStandardAttribute,
  standardAttribute,
} from "../people/profiles/standard-attributes.ts";
import { groupIdOf } from "../people/subscriptions/check-names.ts";
import type { GroupState } from "../people/subscriptions/states.ts";
import {
  checkAttributesIdentifier,
  checkFlag,
  checkMergeObjects,
  type RawItem,
  withLocalPhone,
} from "./check-identity.ts";
import type { AttributesWork, Item } from "./item.ts";

/** Members that are neither standard nor custom attributes. */
const CONTROL = new Set([
  "external_id",
  "user_alias",
  "platform_id",
  "_update_existing_only",
  "_merge_objects",
  "subscription_groups",
  "push_token_import",
]);

/** A profile that nothing identifies could not be found again: absent on purpose. */
const NO_ANONYMOUS_IMPORT = refused(
  "BAD_PUSH_TOKEN_IMPORT",
  "'push_token_import' is not supported: give push_tokens to an identified user",
);

/** The checked contents of an attributes object, before its place in the request is known. */
export type CheckedItem = Omit<Item, "array" | "index"> & {
  /** Attributes that lenient intake leaves out. */
  readonly dropped?: readonly Fault[];
};

/**
 * spec: Attributes object. Lenient intake omits an invalid attribute; strict intake refuses the
 * object. docs/decisions/intake.md
 */
export function checkAttributes(
  workspace: Workspace,
  sent: RawItem,
  intake: Intake,
): Checked<CheckedItem> {
  const raw = intake === "lenient" ? withLocalPhone(sent) : sent;
  const identifier = checkAttributesIdentifier(raw);
  if ("fault" in identifier) return identifier;
  const updateOnly = checkFlag(raw, "_update_existing_only");
  if ("fault" in updateOnly) return updateOnly;
  const merges = checkMergeObjects(raw);
  if ("fault" in merges) return merges;
  const imports = checkFlag(raw, "push_token_import");
  if ("fault" in imports) return imports;
  if (imports.value) return NO_ANONYMOUS_IMPORT;
  const dropped: Fault[] = [];
  const groups = checkGroups(workspace, raw.subscription_groups, intake, dropped);
  if ("fault" in groups) return groups;

  const standard = new Map<string, Json>();
  const custom: AttributeOperation[] = [];
  const { kind } = identifier.value;
  const written = kind === "email" || kind === "phone" ? kind : undefined;
  // for…in makes no list; JSON gives objects without enumerable inherited members.
  for (const name in raw) {
    const value = raw[name];
    // Identifiers are not written: the address stays in its first spelling.
    if (CONTROL.has(name) || name === written) continue;
    const fault = standardAttribute(name)
      ? addStandard(standard, workspace, name, value)
      : addCustom(custom, name, value, merges.value ?? false);
    if (fault && intake === "strict") return { fault };
    if (fault) dropped.push(leftOut(fault));
  }
  const work = workOf(standard, custom, groups.value);
  const isAlias = identifier.value.kind === "alias";
  return accepted({
    identifier: identifier.value,
    // spec: POST /users/track, rule 4. An alias creates no user unless the object says so.
    creates: identifier.value.kind !== "platform_id" && !(updateOnly.value ?? isAlias),
    reads: readsPerson(work),
    addresses: addressesOf(work),
    affectsSharers: work.groups.length > 0,
    work,
    ...(dropped.length > 0 && { dropped }),
  });
}

/** The note on an attribute that lenient intake left out. */
export const leftOut = ({ code, message }: Fault): Fault => ({
  code,
  message: `${message} (left out of its object: the workspace setting is 'intake: lenient')`,
});

function addStandard(
  standard: Map<string, Json>,
  workspace: Workspace,
  name: string,
  value: unknown,
): Fault | undefined {
  const checked = checkStandardAttribute(name, value);
  if ("fault" in checked) return checked.fault;
  if (name === "push_tokens") {
    const fault = findForeignApp(workspace, checked.value);
    if (fault) return fault;
  }
  standard.set(name, checked.value);
  return undefined;
}

function addCustom(
  custom: AttributeOperation[],
  name: string,
  value: unknown,
  merges: boolean,
): Fault | undefined {
  const checked = checkCustomAttribute(name, value, merges);
  if ("fault" in checked) return checked.fault;
  custom.push(checked.value);
  return undefined;
}

function findForeignApp(workspace: Workspace, tokens: Json): Fault | undefined {
  const foreign = ((tokens ?? []) as readonly { app_id: string }[]).find(
    (token) => !workspace.appIds.has(token.app_id),
  );
  return (
    foreign && {
      code: "BAD_PUSH_TOKEN_APP_ID",
      message: `'push_tokens' names the app '${foreign.app_id}', which this workspace does not have`,
    }
  );
}

function workOf(
  standard: Map<string, Json>,
  custom: readonly AttributeOperation[],
  groups: AttributesWork["groups"],
): AttributesWork {
  const state = standard.get("email_subscribe");
  return {
    kind: "attributes",
    email: standard.get("email") as string | null | undefined,
    phone: standard.get("phone") as string | null | undefined,
    // Null means "unknown", the state of an address that never had one: subscribed.
    emailState: state === null ? "subscribed" : (state as EmailState | undefined),
    groups,
    standard: [...standard].filter(([name]) => !standardAttribute(name)?.storedAs),
    custom,
  };
}

/** In addition to the addresses that it sets, which may be the person's present ones. */
const readsPerson = (work: AttributesWork): boolean =>
  work.email === null ||
  work.phone === null ||
  (work.emailState !== undefined && !work.email) ||
  work.groups.length > 0 ||
  work.standard.some(([name]) => name === "push_tokens") ||
  work.custom.some(needsCurrent);

const addressesOf = ({ email, phone }: AttributesWork): GivenAddress[] => [
  ...(email ? [{ kind: "email" as const, value: emailValue(email), given: email }] : []),
  ...(phone ? [{ kind: "phone" as const, value: phone, given: phone }] : []),
];

/**
 * spec: Attributes object, subscription_groups. Lenient intake leaves out an attribute that is
 * invalid. Of several states of a group the last one counts.
 */
function checkGroups(
  workspace: Workspace,
  value: unknown,
  intake: Intake,
  dropped: Fault[],
): Checked<AttributesWork["groups"]> {
  if (value === undefined || value === null) return accepted([]);
  if (!Array.isArray(value) || value.length > MOST_GROUPS) {
    const fault = {
      code: "BAD_SUBSCRIPTION_GROUP_ARRAY",
      message: `'subscription_groups' must be an array${Array.isArray(value) ? ` of at most ${MOST_GROUPS} objects` : ""}`,
    };
    if (intake === "strict") return { fault };
    dropped.push(leftOut(fault));
    return accepted([]);
  }
  const groups = new Map<string, { groupId: string; state: GroupState }>();
  for (const [index, entry] of value.entries()) {
    const checked = checkGroup(workspace, entry, `subscription_groups[${index}]`);
    if ("fault" in checked && intake === "strict") return checked;
    if ("fault" in checked) dropped.push(leftOut(checked.fault));
    else {
      const { groupId } = checked.value;
      groups.delete(groupId);
      groups.set(groupId, checked.value);
    }
  }
  return accepted([...groups.values()]);
}

function checkGroup(workspace: Workspace, entry: unknown, place: string) {
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) {
    return refused("BAD_SUBSCRIPTION_GROUP_HASH", `'${place}' must be an object`);
  }
  const raw = entry as RawItem;
  const { subscription_group_id: id, subscription_state: state } = raw;
  // Ids sent as numbers are read as strings. docs/conformance.md#names-that-clients-use
  const given = typeof id === "number" ? String(id) : id;
  const groupId = typeof given === "string" ? groupIdOf(workspace, given) : undefined;
  if (groupId === undefined) {
    return refused(
      "BAD_SUBSCRIPTION_GROUP_ID",
      `'${place}.subscription_group_id' is not a subscription group of this workspace`,
    );
  }
  if (state !== "subscribed" && state !== "unsubscribed") {
    return refused(
      "BAD_SUBSCRIPTION_GROUP_STATE",
      `'${place}.subscription_state' must be subscribed or unsubscribed`,
    );
  }
  const confirms = checkFlag(raw, "use_double_opt_in_logic");
  if ("fault" in confirms) return confirms;
  // The same in a subscription set: an unconfirmed state would claim a consent.
  if (confirms.value && state === "subscribed") {
    return refused(
      "DOUBLE_OPT_IN_NOT_SUPPORTED",
      `'${place}.use_double_opt_in_logic' requires a confirmation message, and Rapport sends none`,
    );
  }
  return accepted({ groupId, state: state as GroupState });
}
