import type { Workspace } from "../access/workspace.ts";
import type { Clock } from "../clock.ts";
import { allDone, type Database, type Queryable, readTogether } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findHolders, type LookedUp } from "../profiles/find-holders.ts";
import {
  type Alias,
  aliasValue,
  checkEmailIdentifier,
  checkPhoneIdentifier,
  identifierKey,
} from "../profiles/identifiers.ts";
import { selectMergedInto } from "../profiles/merged-store.ts";
import { refuseUnstorable } from "../profiles/plain-json.ts";
import { selectProfiles } from "../profiles/store.ts";
import { readEmailStates, readGroupStates } from "../subscriptions/states.ts";
import { readSummaries } from "../track/summaries.ts";
import { DEFAULT_FIELDS, type ExportField, profileView } from "./profile-view.ts";
import { readEngagementSource } from "./read-engagement-source.ts";

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
  /** What named nobody, as it was given; absent when there is none. */
  readonly invalid_user_ids?: unknown[];
}

const MOST_IDS = 50;

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
    const found = await findHolders(tx, workspace.id, identifiers);
    const ids = [...new Set([...found.values()].flat())];
    const fields = request.fields_to_export ?? DEFAULT_FIELDS;
    const users = await readProfiles(tx, workspace, ids, fields, clock.now());
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

async function readProfiles(
  tx: Queryable,
  workspace: Workspace,
  ids: readonly string[],
  fields: readonly ExportField[],
  now: Date,
) {
  const [profiles, summaries, groupStates, engagement, merged] = await allDone([
    selectProfiles(tx, workspace.id, ids),
    readSummaries(tx, workspace.id, ids),
    readGroupStates(tx, workspace.id, ids),
    readEngagementSource(tx, workspace.id, ids, fields, now),
    selectMergedInto(tx, workspace.id, fields.includes("merged_ids") ? ids : []),
  ]);
  const emails = profiles.flatMap(({ email }) => (email ? [email.toLowerCase()] : []));
  const emailStates = await readEmailStates(tx, workspace.id, emails);
  return profiles.map((profile) => {
    const states = { groupStates, emailStates };
    const source = { workspace, profile, ...summaries, ...states, engagement, merged };
    return { id: profile.id, view: profileView(source, fields) };
  });
}
