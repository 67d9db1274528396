import Type, { type Static } from "typebox";
import { Problem } from "../../core/base/problem.ts";
import type { LookedUp } from "../../core/people/profiles/find-holders.ts";
import {
  aliasValue,
  checkEmailIdentifier,
  checkPhoneLookup,
  identifierKey,
} from "../../core/people/profiles/identifiers.ts";
import { EXPORT_FIELDS } from "./profile-view.ts";

const Id = Type.Union([Type.String(), Type.Number()]);

type Id = Static<typeof Id>;

const Ids = Type.Optional(Type.Union([Type.Array(Id), Id]));

export const ExportRequest = Type.Object({
  external_ids: Ids,
  user_aliases: Type.Optional(
    Type.Array(Type.Object({ alias_name: Id, alias_label: Type.String() })),
  ),
  platform_ids: Ids,
  braze_ids: Ids,
  platform_id: Ids,
  braze_id: Ids,
  email_address: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  fields_to_export: Type.Optional(Type.Array(Type.Enum([...EXPORT_FIELDS]))),
});

export type ExportRequest = Static<typeof ExportRequest>;

/** One requested identifier: as the caller wrote it, and as it is looked up. */
export interface Wanted {
  readonly given: unknown;
  readonly identifier: LookedUp;
  readonly key: string;
}

const MOST_IDS = 50;

/** An address may belong to any number of users: one response shows at most as many as three lists name. */
const MOST_USERS = 3 * MOST_IDS;

/**
 * The most holders to look up: enough for `refuseTooManyUsers` to see that a response would have
 * too many.
 */
export const MOST_HOLDERS = MOST_USERS + 1;

/** @throws Problem INVALID_REQUEST if more users share an address than a response shows. */
export function refuseTooManyUsers(ids: readonly string[]): void {
  if (ids.length <= MOST_USERS) return;
  throw new Problem(
    "INVALID_REQUEST",
    `More than ${MOST_USERS} users share this address. ` +
      "Export them by 'external_ids', 'user_aliases' or 'platform_ids', 50 at a time.",
  );
}

/** @throws Problem INVALID_REQUEST for none or too many ids, or both an address and a number. */
export function wantedBy(request: ExportRequest): Wanted[] {
  const externalIds = listOf(request.external_ids);
  const platformIds = [
    request.platform_ids,
    request.braze_ids,
    request.platform_id,
    request.braze_id,
  ].flatMap(listOf);
  const aliases = request.user_aliases ?? [];
  if (request.email_address !== undefined && request.phone !== undefined) {
    throw new Problem("INVALID_REQUEST", "Only one of 'email_address' and 'phone' may be given.");
  }
  if (Math.max(externalIds.length, aliases.length, platformIds.length) > MOST_IDS) {
    throw new Problem("INVALID_REQUEST", "The max number of ids per request was exceeded");
  }
  const wanted: Wanted[] = [
    ...externalIds.map((given) => wantedOf(given, "external_id", String(given))),
    ...aliases.map((given) =>
      wantedOf(given, "alias", aliasValue({ ...given, alias_name: String(given.alias_name) })),
    ),
    ...platformIds.map((given) => wantedOf(given, "platform_id", String(given).toLowerCase())),
    ...addressOf(request),
  ];
  if (wanted.length > 0) return wanted;
  throw new Problem(
    "INVALID_REQUEST",
    "'external_ids', 'user_aliases', 'platform_ids', 'email_address' or 'phone' is required",
  );
}

/** Whether each of these identifies at most one user: any number of users may share an address. */
export const leadToOneEach = (wanted: readonly Wanted[]): boolean =>
  wanted.every(({ identifier: { kind } }) => kind !== "email" && kind !== "phone");

const listOf = (value: Id | readonly Id[] | undefined): readonly Id[] =>
  value === undefined ? [] : typeof value === "object" ? value : [value];

function wantedOf(given: unknown, kind: LookedUp["kind"], value: string): Wanted {
  const identifier = { kind, value };
  return { given, identifier, key: identifierKey(identifier) };
}

function addressOf({ email_address, phone }: ExportRequest): Wanted[] {
  const given = email_address ?? phone;
  if (given === undefined) return [];
  const checked =
    email_address === undefined ? checkPhoneLookup(given) : checkEmailIdentifier(given);
  if ("fault" in checked) throw new Problem("INVALID_REQUEST", checked.fault.message);
  return [wantedOf(given, checked.value.kind, checked.value.value)];
}
