import type { Workspace } from "../../base/context/workspace.ts";
import { type Checked, type Fault, Problem, refused } from "../../base/problem.ts";
import { describeValue } from "../../base/values/describe-value.ts";
import { refuseUnstorable } from "../../base/values/plain-json.ts";
import { isUuid } from "../../base/values/uuid.ts";
import { isE164 } from "../profiles/addresses.ts";
import {
  checkEmailIdentifier,
  checkExternalId,
  checkPhoneLookup,
  type PersonIdentifier,
} from "../profiles/identifiers.ts";
import type { ItemPosition, NamedUser } from "./set-group-states.ts";

/** spec: Limits. Names of one kind in a request. */
export const MOST_NAMES = 50;

export const NAME_KINDS = ["external_id", "email", "phone"] as const;

export type NameKind = (typeof NAME_KINDS)[number];

export const CHECK_OF: Readonly<Record<NameKind, (value: unknown) => Checked<PersonIdentifier>>> = {
  external_id: checkExternalId,
  email: checkEmailIdentifier,
  phone: checkE164,
};

/**
 * spec: User identifiers, phone; E.164 in subscription endpoints. Only the form is checked: a
 * number that does not exist names no user, like any other unused number. One that exists is read as
 * in track, so that the same text names the same user: +440… is +44….
 */
function checkE164(value: unknown): Checked<PersonIdentifier> {
  if (isE164(value)) return checkPhoneLookup(value);
  return refused(
    "INVALID_PHONE",
    `${describeValue(value)} is not a number in E.164, such as '+14155552671'`,
  );
}

/** spec: Errors, /subscription/status/set. */
export const NOT_BOTH =
  "Either an email address or a phone number should be provided, but not both.";

/** docs/conformance.md#other-errors */
export const UNKNOWN_GROUP = "Invalid subscription group ID";

/**
 * The stored id of a group of the workspace. The case of UUIDs does not matter.
 *
 * @returns undefined if there is no such group.
 */
export function groupIdOf(
  { groupChannels }: Pick<Workspace, "groupChannels">,
  given: string,
): string | undefined {
  if (groupChannels.has(given)) return given;
  return isUuid(given) ? idsInLowerCase(groupChannels).get(given.toLowerCase()) : undefined;
}

type GroupChannels = Workspace["groupChannels"];

/** The ids of a workspace's groups by their lower case, worked out once for each state of its groups. */
const knownInLowerCase = new WeakMap<GroupChannels, ReadonlyMap<string, string>>();

function idsInLowerCase(groups: GroupChannels): ReadonlyMap<string, string> {
  const known = knownInLowerCase.get(groups);
  if (known) return known;
  const ids = new Map([...groups.keys()].map((id) => [id.toLowerCase(), id]));
  knownInLowerCase.set(groups, ids);
  return ids;
}

/** `'a', 'b' or 'c' is required` */
export const required = (names: readonly string[]): string =>
  `${names
    .slice(0, -1)
    .map((name) => `'${name}'`)
    .join(", ")} or '${names.at(-1)}' is required`;

export interface PlacedFault extends Fault, Partial<ItemPosition> {}

/** Checks a list of names of one kind. A name that cannot be one goes to `faults`. */
export function checkList(
  kind: NameKind,
  list: string,
  values: readonly unknown[],
  faults: PlacedFault[],
): NamedUser[] {
  return values.flatMap((value, index) => {
    const place = { input_array: list, index };
    const checked = CHECK_OF[kind](value);
    if (!("fault" in checked)) return [{ identifier: checked.value, place }];
    const message = `'${list}[${index}]' is not valid: ${checked.fault.message}`;
    faults.push({ code: checked.fault.code, message, ...place });
    return [];
  });
}

/** Refuses a request that has faults. @throws Problem INVALID_REQUEST with all of them in `errors`. */
export function refuseFaulty(faults: readonly PlacedFault[], message = faults[0]?.message): void {
  if (message === undefined || faults.length === 0) return;
  throw new Problem("INVALID_REQUEST", message, { body: { errors: faults } });
}

/** The `email` of a body. @throws Problem INVALID_REQUEST with every fault in `errors`. */
export function checkAddresses(body: { readonly email: string | readonly string[] }): NamedUser[] {
  refuseUnstorable(body);
  const faults: PlacedFault[] = [];
  const addresses = checkList("email", "email", [body.email].flat(), faults);
  refuseFaulty(faults);
  return addresses;
}

/** Names in a query string; names of one kind are one list. */
export type NameQuery = Readonly<Partial<Record<NameKind, readonly string[]>>>;

/** A user that a query names, as given and as looked up. */
export interface AskedFor {
  readonly given: string;
  readonly identifier: PersonIdentifier;
}

/**
 * Checks names of a query string.
 *
 * An unencoded plus sign arrives as a space, which no address or number contains: it is read as a plus.
 *
 * @throws Problem INVALID_REQUEST that names the parameter.
 */
export function checkNames(query: NameQuery, kinds: readonly NameKind[] = NAME_KINDS): AskedFor[] {
  const asked = kinds.flatMap((kind) =>
    (query[kind] ?? []).map((text) => {
      const given = kind === "external_id" ? text : text.replaceAll(" ", "+");
      const checked = CHECK_OF[kind](given);
      if (!("fault" in checked)) return { given, identifier: checked.value };
      throw new Problem("INVALID_REQUEST", `'${kind}' is not valid: ${checked.fault.message}`, {
        body: { code: checked.fault.code },
      });
    }),
  );
  if (asked.length > 0) return asked;
  throw new Problem("INVALID_REQUEST", required(kinds));
}
