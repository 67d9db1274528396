import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { type Database, type Queryable, readTogether } from "../../database/database.ts";
import { findHolders } from "../profiles/find-holders.ts";
import { identifierKey } from "../profiles/identifiers.ts";
import { type ProfileAddresses, selectProfiles } from "../profiles/store.ts";
import {
  type AskedFor,
  checkNames,
  groupIdOf,
  MOST_NAMES,
  type NameQuery,
  NOT_BOTH,
  UNKNOWN_GROUP,
} from "./check-names.ts";
import { type GroupState, readGroupStates } from "./states.ts";

export type ReadServices = { readonly database: Database };

/** A stored state, as reads show it. */
export const READ_AS = { subscribed: "Subscribed", unsubscribed: "Unsubscribed" } as const;

export type ReadState = (typeof READ_AS)[GroupState] | "Unknown";

/**
 * Reads the states of users in one group.
 *
 * spec: GET /subscription/status/get. If external ids are given, only they count; email and phone together
 * are refused. A user without a state, or who does not exist, is Unknown.
 *
 * @returns the state by requested external_id, which may belong to a merged user. A user found by
 * address
 *   appears under their external_id; those without one, and addresses without a user, under the address
 *   (of several users, Unsubscribed before Subscribed before Unknown).
 * @throws Problem INVALID_REQUEST.
 */
export async function readStatus(
  { database }: ReadServices,
  workspace: Workspace,
  query: NameQuery & { readonly subscription_group_id: string },
): Promise<Record<string, ReadState>> {
  const groupId = groupIdOf(workspace, query.subscription_group_id);
  if (groupId === undefined) throw new Problem("INVALID_REQUEST", UNKNOWN_GROUP);
  const byExternalId = query.external_id !== undefined;
  const asked = byExternalId
    ? checkNames({ external_id: query.external_id })
    : checkAddresses(query);

  return readTogether(database, async (tx) => {
    const holders = await readHolders(tx, workspace.id, asked);
    const profiles = [...holders.values()].flat();
    const ids = profiles.map((profile) => profile.id);
    const rows = await readGroupStates(tx, workspace.id, [...new Set(ids)]);
    const states = new Map<string, ReadState>(
      rows
        .filter((row) => row.groupId === groupId)
        .map((row) => [row.profileId, READ_AS[row.state]]),
    );
    const stateOf = ({ id }: ProfileAddresses) => states.get(id) ?? "Unknown";
    const identified = byExternalId ? [] : profiles;
    return Object.fromEntries([
      ...asked.flatMap((each) => statusOfName(each, holders.get(each) ?? [], stateOf)),
      // Last: an external_id that looks like a requested address is never overwritten by it.
      ...identified.flatMap((each) => (each.externalId ? [[each.externalId, stateOf(each)]] : [])),
    ]);
  });
}

/** Addresses of one kind. @throws Problem INVALID_REQUEST also if there are too many. */
function checkAddresses(query: NameQuery): AskedFor[] {
  if (query.email && query.phone) throw new Problem("INVALID_REQUEST", NOT_BOTH);
  const [kind, { length = 0 } = []] = query.email ? ["email", query.email] : ["phone", query.phone];
  if (length <= MOST_NAMES) return checkNames(query);
  throw new Problem("INVALID_REQUEST", `'${kind}' must have at most ${MOST_NAMES} items`);
}

/**
 * The entry under the requested name: the user's for an external_id; for an address, of its users without
 * an external_id the state that refuses most; Unknown if there is no user.
 */
function statusOfName(
  { given, identifier }: AskedFor,
  holders: readonly ProfileAddresses[],
  stateOf: (profile: ProfileAddresses) => ReadState,
): [string, ReadState][] {
  if (holders.length === 0) return [[given, "Unknown"]];
  const states = holders
    .filter(({ externalId }) => identifier.kind === "external_id" || !externalId)
    .map(stateOf);
  const state = REFUSING_FIRST.find((each) => states.includes(each));
  return state ? [[given, state]] : [];
}

/** If users share an address, an unsubscribed one decides. */
const REFUSING_FIRST: readonly ReadState[] = ["Unsubscribed", "Subscribed", "Unknown"];

/** The users of each name, the most recently updated first. */
export async function readHolders(
  tx: Queryable,
  workspaceId: number,
  asked: readonly AskedFor[],
): Promise<ReadonlyMap<AskedFor, readonly ProfileAddresses[]>> {
  const identifiers = asked.map(({ identifier }) => identifier);
  const found = await findHolders(tx, workspaceId, identifiers);
  const ids = new Set([...found.values()].flat());
  const profiles = await selectProfiles(tx, workspaceId, [...ids], "bare");
  return new Map(
    asked.map((each) => {
      const own = new Set(found.get(identifierKey(each.identifier)));
      return [each, profiles.filter(({ id }) => own.has(id))];
    }),
  );
}
