import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { Channel, Workspace } from "../../base/context/workspace.ts";
import type { Fault } from "../../base/problem.ts";
import { refuseUnstorable } from "../../base/values/plain-json.ts";
import { leavingOutAbsent } from "../../http/absent-members.ts";
import { described } from "../../http/described.ts";
import { faultyItems } from "../../http/validation-sentence.ts";
import {
  checkList,
  groupIdOf,
  MOST_NAMES,
  NAME_KINDS,
  type NameKind,
  NOT_BOTH,
  type PlacedFault,
  refuseFaulty,
  required,
  UNKNOWN_GROUP,
} from "./check-names.ts";
import type { GroupSet, NamedUser } from "./set-group-states.ts";
import type { GroupState } from "./states.ts";

/** Numbers are read as strings. docs/conformance.md#names-that-clients-use */
const Id = Type.Union([Type.String(), Type.Number()]);
const Ids = Type.Array(Id, { minItems: 1, maxItems: MOST_NAMES });

export const Addresses = Type.Array(Type.String(), { minItems: 1, maxItems: MOST_NAMES });

const STATE = {
  subscription_group_id: Id,
  subscription_state: Type.Enum(["subscribed", "unsubscribed"]),
};

export const OneSet = Type.Object({
  ...STATE,
  external_id: Type.Optional(Type.Union([Id, Ids])),
  email: Type.Optional(Type.Union([Type.String(), Addresses])),
  phone: Type.Optional(Type.Union([Type.String(), Addresses])),
  use_double_opt_in_logic: Type.Optional(Type.Boolean()),
});

/** The live service accepts the names of version 1 too: docs/decisions/subscription-sets.md. */
const OneName = Type.Optional(
  Type.Union([Type.String(), Type.Number()], { description: "The same as a list of one." }),
);

const SetOfMany = Type.Object({
  ...STATE,
  external_ids: Type.Optional(Ids),
  emails: Type.Optional(Addresses),
  phones: Type.Optional(Addresses),
  external_id: OneName,
  email: OneName,
  phone: OneName,
  use_double_opt_in_logic: Type.Optional(Type.Boolean()),
});

/**
 * The body of `POST /v2/subscription/status/set`. `checkManySets` checks its objects, so that a refusal lists objects of
 * a wrong form together with objects that name an unknown group.
 */
export const ManySets = Type.Object({
  subscription_groups: Type.Array(described(SetOfMany), { minItems: 1, maxItems: 50 }),
});

const Checked = Type.Object({ subscription_groups: Type.Array(SetOfMany) });
const withoutNulls = leavingOutAbsent(Checked);
const compile = () => Compile(Checked);
/** Compiled for the first request. */
let validator: ReturnType<typeof compile> | undefined;

type Id = Static<typeof Id>;

/** One object that sets a group, in either version. */
interface RawSet {
  /** Precedes the names of its members in sentences: empty, or such as `subscription_groups[1].` */
  readonly prefix: string;
  readonly groupId: string;
  readonly state: GroupState;
  readonly lists: Readonly<
    Record<NameKind, { readonly name: string; readonly values: readonly Id[] }>
  >;
  readonly asksForConfirmation: boolean;
}

/**
 * Checks version 2: each object names users by external ids, emails or phones, or by external ids
 * and one of the others, for groups of both channels.
 *
 * @throws Problem INVALID_REQUEST with all faults in `errors`; the message is the first one's, or
 * `Invalid subscription group ID` if a group is unknown.
 */
export function checkManySets(workspace: Workspace, body: Static<typeof ManySets>): GroupSet[] {
  refuseUnstorable(body);
  validator ??= compile();
  const given = withoutNulls(body) as Static<typeof Checked>;
  const ofForm = validator.Check(given) ? [] : faultyItems(validator.Errors(given));
  const faults = new Map(ofForm.map((fault) => [fault.index, fault]));
  const read = given.subscription_groups.map((set, index): ReadSet => {
    const fault = faults.get(index);
    if (fault) return { fault: { code: "INVALID_REQUEST", ...fault } };
    return { value: rawSet(workspace, set, index) };
  });
  return checkSets(read, (set, index) => {
    const fault =
      findFault(workspace, set) ?? (isEmpty(set) ? missing(set, NAME_KINDS) : undefined);
    return fault && { ...fault, input_array: "subscription_groups", index };
  });
}

function rawSet(workspace: Workspace, set: Static<typeof SetOfMany>, index: number): RawSet {
  return {
    prefix: `subscription_groups[${index}].`,
    groupId: storedId(workspace, set.subscription_group_id),
    state: set.subscription_state,
    lists: {
      external_id: listWith("external_id", set.external_id, set.external_ids),
      email: listWith("email", set.email, set.emails),
      phone: listWith("phone", set.phone, set.phones),
    },
    asksForConfirmation: set.use_double_opt_in_logic ?? false,
  };
}

/**
 * Checks version 1, in which the channel decides which identifiers are allowed.
 *
 * spec: POST /subscription/status/set. An email group requires external_id or email, an SMS group
 * external_id or phone; WhatsApp, which sends to phones too, is like SMS.
 *
 * @throws Problem INVALID_REQUEST, as `checkManySets`.
 */
export function checkOneSet(workspace: Workspace, body: Static<typeof OneSet>): GroupSet[] {
  refuseUnstorable(body);
  const raw = {
    prefix: "",
    groupId: storedId(workspace, body.subscription_group_id),
    state: body.subscription_state,
    lists: {
      external_id: { name: "external_id", values: listOf(body.external_id) },
      email: { name: "email", values: listOf(body.email) },
      phone: { name: "phone", values: listOf(body.phone) },
    },
    asksForConfirmation: body.use_double_opt_in_logic ?? false,
  };
  return checkSets([{ value: raw }], (set) => {
    const kinds = kindsFor(workspace.groupChannels.get(set.groupId));
    const isNamed = kinds.some((kind) => set.lists[kind].values.length > 0);
    return findFault(workspace, set) ?? (isNamed ? undefined : missing(set, kinds));
  });
}

/** One name and a list of names, under the member that the request used. */
const listWith = (name: NameKind, one: Id | undefined, list: readonly Id[] | undefined) => {
  if (one === undefined) return { name: `${name}s`, values: list ?? [] };
  return list === undefined
    ? { name, values: [one] }
    : { name: `${name}s`, values: [...list, one] };
};

/** An unknown id is returned unchanged, to be refused. */
const storedId = (workspace: Workspace, id: Id): string =>
  groupIdOf(workspace, String(id)) ?? String(id);

const listOf = (value: Id | readonly Id[] | undefined): readonly Id[] =>
  value === undefined ? [] : typeof value === "object" ? value : [value];

const kindsFor = (channel: Channel | undefined): readonly NameKind[] => [
  "external_id",
  channel === "email" ? "email" : "phone",
];

/** An object of the right form, or what is wrong with its form. */
type ReadSet = { readonly value: RawSet } | { readonly fault: PlacedFault };

function checkSets(
  sets: readonly ReadSet[],
  findSetFault: (set: RawSet, index: number) => PlacedFault | undefined,
): GroupSet[] {
  const faults: PlacedFault[] = [];
  const groupSets = sets.flatMap((read, index) => {
    if ("fault" in read) {
      faults.push(read.fault);
      return [];
    }
    const { value: set } = read;
    const fault = findSetFault(set, index);
    if (fault) faults.push(fault);
    const { groupId, state } = set;
    return [{ groupId, state, named: namesOf(set, faults) }];
  });
  const isUnknown = faults.some((fault) => fault.code === "INVALID_SUBSCRIPTION_GROUP_ID");
  refuseFaulty(faults, isUnknown ? UNKNOWN_GROUP : undefined);
  return groupSets;
}

/** The faults of an object apart from the names in its lists. */
function findFault(workspace: Workspace, set: RawSet): Fault | undefined {
  const { prefix, lists } = set;
  if (!workspace.groupChannels.has(set.groupId)) {
    return {
      code: "INVALID_SUBSCRIPTION_GROUP_ID",
      message: `'${prefix}subscription_group_id' is not a subscription group of this workspace`,
    };
  }
  const long = NAME_KINDS.find((kind) => lists[kind].values.length > MOST_NAMES);
  if (long) {
    const message = `'${prefix}${lists[long].name}' must have at most ${MOST_NAMES} items`;
    return { code: "INVALID_REQUEST", message };
  }
  if (lists.email.values.length > 0 && lists.phone.values.length > 0) {
    return { code: "EMAIL_AND_PHONE", message: NOT_BOTH };
  }
  if (set.asksForConfirmation && set.state === "subscribed") {
    return {
      code: "DOUBLE_OPT_IN_NOT_SUPPORTED",
      message: `'${prefix}use_double_opt_in_logic' requires a confirmation message, and Rapport sends none`,
    };
  }
  return undefined;
}

const isEmpty = ({ lists }: RawSet): boolean =>
  NAME_KINDS.every((kind) => lists[kind].values.length === 0);

const missing = ({ prefix, lists }: RawSet, kinds: readonly NameKind[]): Fault => ({
  code: "MISSING_IDENTIFIER",
  message: required(kinds.map((kind) => prefix + lists[kind].name)),
});

const namesOf = ({ prefix, lists }: RawSet, faults: PlacedFault[]): NamedUser[] =>
  NAME_KINDS.flatMap((kind) =>
    checkList(kind, prefix + lists[kind].name, lists[kind].values, faults),
  );
