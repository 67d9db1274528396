import { recordUserChanges } from "../../core/admin/audit/audit.ts";
import { readApps } from "../../core/admin/workspaces/apps.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { type Fault, Problem } from "../../core/base/problem.ts";
import { findUnstorable, type Json } from "../../core/base/values/plain-json.ts";
import { type ItemNote, noteOf } from "../../core/base/verdicts.ts";
import {
  addPushTokens,
  type PushToken,
} from "../../core/people/profiles/attribute-rules/push-tokens.ts";
import { readPeople } from "../../core/people/profiles/load-people.ts";
import {
  attributeOf,
  type People,
  type Person,
  setAttribute,
} from "../../core/people/profiles/people.ts";
import { savePeople } from "../../core/people/profiles/save-people.ts";
import { type PeopleServices, writePeople } from "../../core/people/profiles/write-people.ts";
import { checkImportedUser, type ImportedUser } from "./check-user.ts";
import { writeHistory } from "./write-history.ts";

export interface Imported {
  readonly imported: number;
  readonly errors: readonly ItemNote[];
  readonly skipped: readonly ItemNote[];
}

const MOST_USERS = 500;

/**
 * Imports what no public call writes: apps with their sessions, devices, push tokens, campaigns,
 * canvases, cards, messages and Last_X_at fields.
 *
 * An object sets what it names: an existing app, device, campaign or message is replaced, so that
 * importing twice changes nothing; push tokens are added. Creates missing users, except by
 * platform_id, and audits the count. decision: docs/decisions/imported-activity.md.
 *
 * @param users the objects as they were sent; each gets its own verdict.
 * @throws Problem NOT_FOUND for the workspace; INVALID_REQUEST for more than 500 objects, or if
 * none is accepted.
 */
export async function importUsers(
  services: PeopleServices,
  context: WorkspaceContext,
  users: readonly unknown[],
): Promise<Imported> {
  const { workspace } = context;
  if (users.length > MOST_USERS) {
    throw new Problem("INVALID_REQUEST", `'users' may hold at most ${MOST_USERS} objects.`);
  }
  const apps = await readApps(services.database, workspace.id);
  const appIds = new Set(apps.map((app) => app.id));
  const checked = users.map((user, index) => ({ index, ...checkUser(user, appIds) }));
  const errors = checked.flatMap((each) =>
    "fault" in each ? [noteOf({ array: "users", index: each.index }, each.fault)] : [],
  );
  const taken = checked.flatMap((each) => ("fault" in each ? [] : [each]));
  const [first] = errors;
  if (first && taken.length === 0) {
    const message = `users[${first.index}]: ${first.message}`;
    throw new Problem("INVALID_REQUEST", message, { body: { errors } });
  }
  const imported = taken.map((each) => each.value);
  const isKnown = await writeUsers(services, context, imported);
  const skipped = taken.flatMap((each, place) =>
    isKnown[place] ? [] : [noteOf({ array: "users", index: each.index }, NO_USER)],
  );
  return { imported: taken.length, errors, skipped };
}

const NO_USER: Fault = {
  code: "USER_NOT_FOUND",
  message: "no user has this 'platform_id', and this object does not create one",
};

function checkUser(user: unknown, appIds: ReadonlySet<string>) {
  const fault = findUnstorable(user, "");
  return fault ? { fault } : checkImportedUser(user, appIds);
}

/** @returns for each object whether its user was found or made. */
async function writeUsers(
  services: PeopleServices,
  context: WorkspaceContext,
  users: readonly ImportedUser[],
): Promise<boolean[]> {
  const { id, name } = context.workspace;
  const targets = users.map(({ identifier }) => ({
    identifier,
    reads: true,
    addresses: [],
    affectsSharers: false,
  }));
  const { clock } = services;
  const { newId } = clock;
  // Without an address cache: users are read in the transaction that writes them.
  const writing = { ...services, addressCache: undefined };
  const names = users.map(({ identifier }) => identifier);
  const parts = await writePeople(writing, context.workspace, { names }, async (each) => {
    const people = await readPeople(each.reading, id, targets, { newId });
    const parts = users.flatMap((user) => {
      const person = personOf(people, user);
      if (person) applyToPerson(people, person, user, newId);
      return person ? [{ profileId: person.id, user }] : [];
    });
    const changes = people.changes(clock.now());
    await each.write(async (tx) => {
      await savePeople(tx, id, changes);
      await writeHistory(tx, id, parts);
      const details = { users: parts.length };
      const change = { action: "imported", kind: "users", workspace: name, name, details };
      if (parts.length > 0) await recordUserChanges(tx, clock, context, [change]);
      return { people: changes };
    });
    return parts;
  });
  const known = new Set(parts.map(({ user }) => user));
  return users.map((user) => known.has(user));
}

const personOf = (people: People, { identifier }: ImportedUser): Person | undefined =>
  people.find(identifier) ??
  (identifier.kind === "platform_id" ? undefined : people.create(identifier));

function applyToPerson(
  people: People,
  person: Person,
  { pushTokens, times }: ImportedUser,
  newId: () => string,
): void {
  if (pushTokens.length > 0) {
    const present = (attributeOf(person, "standard", "push_tokens") ?? []) as unknown;
    const tokens = addPushTokens(present as PushToken[], pushTokens, newId);
    setAttribute(person, "standard", "push_tokens", tokens as unknown as Json);
  }
  for (const [name, time] of times) setAttribute(person, "standard", name, time);
  people.touch(person);
}
