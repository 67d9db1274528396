import type { Clock } from "../clock.ts";
import type { Workspace } from "../context/workspace.ts";
import { type Database, type Queryable, readTogether } from "../database/database.ts";
import { findHolders, type LookedUp } from "../people/find-holders.ts";
import {
  type Alias,
  aliasValue,
  checkEmailIdentifier,
  checkPhoneIdentifier,
  identifierKey,
} from "../people/identifiers.ts";
import { Problem } from "../problem.ts";
import { refuseUnstorable } from "../values/plain-json.ts";
import { refuseLargeExport } from "./export-budget.ts";
import { DEFAULT_FIELDS, type ExportField } from "./profile-view.ts";
import { readSmallUsers } from "./read-small-users.ts";
import { viewsOf, viewUsers } from "./view-users.ts";

export interface ExportServices {
  readonly database: Database;
  readonly clock: Clock;
}

type Id = string | number;

export interface ExportRequest {
  readonly external_ids?: Id | readonly Id[];
  readonly user_aliases?: readonly Alias[];
  readonly platform_ids?: Id | readonly Id[];
  readonly braze_ids?: Id | readonly Id[];
  readonly platform_id?: Id | readonly Id[];
  readonly braze_id?: Id | readonly Id[];
  readonly email_address?: string;
  readonly phone?: string;
  readonly fields_to_export?: readonly ExportField[];
}

export interface Exported {
  readonly users: Record<string, unknown>[];
  /** The given identifiers that name no user; absent if there are none. */
  readonly invalid_user_ids?: unknown[];
}

const MOST_IDS = 50;

/** An address may belong to any number of users: one response shows at most as many as three lists name. */
const MOST_USERS = 3 * MOST_IDS;

/** One thing the caller asked for: how it was written, and what it is looked up by. */
interface Wanted {
  readonly given: unknown;
  readonly identifier: LookedUp;
}

/**
 * Reads profiles by external ids, aliases, platform ids, or by one address, in the publicly known
 * shape. All of it is read at one moment: counts and states fit together.
 *
 * @throws Problem INVALID_REQUEST for none or too many ids, both an address and a number, or a text
 *   or an id as a number that is not what was sent any more.
 */
export async function exportByIds(
  { database, clock }: ExportServices,
  workspace: Workspace,
  request: ExportRequest,
): Promise<Exported> {
  refuseUnstorable(request);
  const wanted = wantedBy(request);
  return readTogether(database, async (tx) => {
    const identifiers = wanted.map((each) => each.identifier);
    const found = await findHolders(tx, workspace.id, identifiers, MOST_USERS + 1);
    const ids = [...new Set([...found.values()].flat())];
    refuseTooManyUsers(ids);
    const fields = request.fields_to_export ?? DEFAULT_FIELDS;
    const users = await readWithinBudget(tx, workspace, ids, fields, clock.now());
    const existing = new Set(users.map((user) => user.id));
    const invalid = wanted.filter(
      (each) => !found.get(identifierKey(each.identifier))?.some((id) => existing.has(id)),
    );
    return {
      users: users.map((user) => user.view),
      ...(invalid.length > 0 && { invalid_user_ids: invalid.map((each) => each.given) }),
    };
  });
}

/** Measures what is large before it is read, and what is small after it was read. @throws Problem over the budget. */
async function readWithinBudget(
  tx: Queryable,
  workspace: Workspace,
  ids: readonly string[],
  fields: readonly ExportField[],
  now: Date,
) {
  const small = await readSmallUsers(tx, workspace, ids, fields);
  if (small) return viewsOf(tx, workspace, small, fields);
  await refuseLargeExport(tx, workspace.id, ids, fields);
  return viewUsers(tx, workspace, ids, fields, now);
}

function refuseTooManyUsers(ids: readonly string[]): void {
  if (ids.length <= MOST_USERS) return;
  throw new Problem(
    "INVALID_REQUEST",
    `More than ${MOST_USERS} users share this address. ` +
      "Export them by 'external_ids', 'user_aliases' or 'platform_ids', 50 at a time.",
  );
}

function wantedBy(request: ExportRequest): Wanted[] {
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
    ...aliases.map((given) => wantedOf(given, "alias", aliasValue(given))),
    ...platformIds.map((given) => wantedOf(given, "platform_id", String(given).toLowerCase())),
    ...addressOf(request),
  ];
  if (wanted.length > 0) return wanted;
  throw new Problem(
    "INVALID_REQUEST",
    "'external_ids', 'user_aliases', 'platform_ids', 'email_address' or 'phone' is required",
  );
}

const listOf = (value: Id | readonly Id[] | undefined): readonly Id[] =>
  value === undefined ? [] : typeof value === "object" ? value : [value];

const wantedOf = (given: unknown, kind: LookedUp["kind"], value: string): Wanted => ({
  given,
  identifier: { kind, value },
});

function addressOf({ email_address, phone }: ExportRequest): Wanted[] {
  const given = email_address ?? phone;
  if (given === undefined) return [];
  const checked =
    email_address === undefined ? checkPhoneIdentifier(given) : checkEmailIdentifier(given);
  if ("fault" in checked) throw new Problem("INVALID_REQUEST", checked.fault.message);
  return [wantedOf(given, checked.value.kind, checked.value.value)];
}
