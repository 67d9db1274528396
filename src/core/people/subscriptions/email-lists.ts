import Type, { type Static } from "typebox";
import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { parseTime } from "../../base/values/times.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { checkNames, MOST_NAMES } from "./check-names.ts";
import {
  deleteHardBounces,
  type EmailEntry,
  type EmailSelection,
  insertHardBounces,
  selectHardBounces,
  selectUnsubscribes,
} from "./email-list-store.ts";
import type { ReadServices } from "./read-status.ts";
import { refuseUnseen } from "./refuse-unseen.ts";
import { setEmailStates, spelledOf } from "./set-email-states.ts";
import type { NamedUser, SettingContext } from "./set-group-states.ts";

/*
 * Addresses that must not be mailed: unsubscribed ones, and hard bounces. Rapport sends no mail and knows
 * only the bounces that callers report. docs/decisions/email-lists.md
 */

const Day = (description: string) => Type.Optional(Type.String({ description }));

export const ListQuery = Type.Object({
  start_date: Day(
    "The first day of the period, as YYYY-MM-DD. It begins at midnight UTC. Only the day of a date-time counts.",
  ),
  end_date: Day(
    "The first day after the period, as YYYY-MM-DD: for one day, the next one; to include today, tomorrow.",
  ),
  email: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: MOST_NAMES,
      description: "Looks up these addresses instead of a period.",
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "100 by default." })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
});

export const OrderedListQuery = Type.Object({
  ...ListQuery.properties,
  sort_direction: Type.Optional(Type.Enum(["asc", "desc"])),
});

type ListQuery = Static<typeof OrderedListQuery>;

const DEFAULT_LIMIT = 100;

/** @throws Problem INVALID_REQUEST that names the parameter. */
export const readUnsubscribes = (
  { database }: ReadServices,
  workspace: Workspace,
  query: ListQuery,
): Promise<EmailEntry[]> => selectUnsubscribes(database, workspace.id, checkQuery(query));

/** @throws Problem INVALID_REQUEST that names the parameter. */
export const readHardBounces = (
  { database }: ReadServices,
  workspace: Workspace,
  query: ListQuery,
): Promise<EmailEntry[]> => selectHardBounces(database, workspace.id, checkQuery(query));

/** The period of the list, in ISO 8601: `until` is not included. Undefined where addresses are looked up. */
export function periodOf(query: ListQuery): { from: string; until: string } | undefined {
  const { from, until } = checkQuery(query);
  return from && until && { from: from.toISOString(), until: until.toISOString() };
}

/** Unsubscribes addresses and records that they bounced, whether a user has them or not. */
export async function blockEmails(
  services: PeopleServices,
  context: SettingContext,
  addresses: readonly NamedUser[],
): Promise<void> {
  await refuseUnseen(services.database, context.workspace, addresses);
  const identifiers = addresses.map(({ identifier }) => identifier);
  return setEmailStates(services, context, identifiers, "unsubscribed", (tx) =>
    insertHardBounces(tx, context.workspace.id, identifiers.map(spelledOf), services.clock.now()),
  );
}

/** Removes addresses from the list of bounces; their subscription state stays the same. */
export async function removeHardBounces(
  { database }: PeopleServices,
  { workspace }: SettingContext,
  addresses: readonly NamedUser[],
): Promise<void> {
  const emails = addresses.map(({ identifier }) => identifier.value);
  await deleteHardBounces(database, workspace.id, emails);
}

/** Addresses take precedence over the period, as in the public API. */
function checkQuery(query: ListQuery): EmailSelection {
  const { email, limit = DEFAULT_LIMIT, offset = 0, sort_direction: direction = "desc" } = query;
  const page = { limit, offset, direction };
  if (email) {
    const emails = checkNames({ email }, ["email"]).map(({ identifier }) => identifier.value);
    return { ...page, emails, from: undefined, until: undefined };
  }
  const from = checkDate("start_date", query.start_date);
  const until = checkDate("end_date", query.end_date);
  if (from < until) return { ...page, emails: undefined, from, until };
  throw new Problem(
    "INVALID_REQUEST",
    "'start_date' must be before 'end_date', which is the first day after the period: for one day, give the next one as 'end_date'",
  );
}

function checkDate(name: string, text: string | undefined): Date {
  if (text === undefined) {
    throw new Problem("INVALID_REQUEST", "'email', or 'start_date' and 'end_date', is required");
  }
  // Existing clients send date-times: only their day counts, as written.
  const day = /[T ]/.test(text) && parseTime(text) ? text.slice(0, 10) : text;
  const date = new Date(`${day}T00:00:00Z`);
  // A day that does not exist, such as 2026-02-30, must not become another one.
  if (/^\d{4}-\d\d-\d\d$/.test(day) && isSameDay(date, day)) return date;
  throw new Problem("INVALID_REQUEST", `'${name}' is not valid: it is a day as YYYY-MM-DD`);
}

const isSameDay = (date: Date, text: string): boolean =>
  !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
