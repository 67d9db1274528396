import type { Workspace } from "../access/workspace.ts";
import { type Database, type Queryable, readTogether } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findHolders } from "../profiles/find-holders.ts";
import { identifierKey } from "../profiles/identifiers.ts";
import { type ProfileRow, selectProfiles } from "../profiles/store.ts";
import {
  type AskedFor,
  checkNames,
  type NameQuery,
  NOT_BOTH,
  UNKNOWN_GROUP,
} from "./check-names.ts";
import { type GroupState, readGroupStates } from "./states.ts";

export interface ReadServices {
  readonly database: Database;
}

/** A state that was given, as it is read. */
export const READ_AS = { subscribed: "Subscribed", unsubscribed: "Unsubscribed" } as const;

export type ReadState = (typeof READ_AS)[GroupState] | "Unknown";

/**
 * Reads one group's state of people.
 *
 * spec: GET /subscription/status/get. Where external ids are given, only they count; email and phone
 * together are refused. Unknown is whoever was never given a state, and whoever does not exist.
 *
 * @returns the state by external_id, as it was asked for where it was: one that leads to the user it was
 *   merged into stands for that user. By the address asked for where its holder has no external_id,
 *   the most recently updated one's if there are several, and where nobody has the address.
 * @throws Problem INVALID_REQUEST.
 */
export async function readStatus(
  { database }: ReadServices,
  workspace: Workspace,
  query: NameQuery & { readonly subscription_group_id: string },
): Promise<Record<string, ReadState>> {
  const groupId = query.subscription_group_id;
  if (!workspace.groupChannels.has(groupId)) throw new Problem("INVALID_REQUEST", UNKNOWN_GROUP);
  const byExternalId = query.external_id !== undefined;
  if (!byExternalId && query.email && query.phone) throw new Problem("INVALID_REQUEST", NOT_BOTH);
  const asked = checkNames(byExternalId ? { external_id: query.external_id } : query);

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
    const stateOf = ({ id }: ProfileRow) => states.get(id) ?? "Unknown";
    const identified = byExternalId ? [] : profiles;
    return Object.fromEntries([
      ...asked.flatMap((each) => statusOfName(each, holders.get(each) ?? [], stateOf)),
      // An external_id may look like an address; it is the stronger name.
      ...identified.flatMap((each) => (each.externalId ? [[each.externalId, stateOf(each)]] : [])),
    ]);
  });
}

/**
 * What stands under the name itself: the state of nobody, of whom an external_id leads to, or of
 * somebody without one whom an address leads to.
 */
function statusOfName(
  { given, who }: AskedFor,
  holders: readonly ProfileRow[],
  stateOf: (profile: ProfileRow) => ReadState,
): [string, ReadState][] {
  if (holders.length === 0) return [[given, "Unknown"]];
  const meant = holders.find(({ externalId }) => who.kind === "external_id" || !externalId);
  return meant ? [[given, stateOf(meant)]] : [];
}

/** The holders of each name, the most recently updated first. */
export async function readHolders(
  tx: Queryable,
  workspaceId: number,
  asked: readonly AskedFor[],
): Promise<ReadonlyMap<AskedFor, readonly ProfileRow[]>> {
  const whos = asked.map(({ who }) => who);
  const found = await findHolders(tx, workspaceId, whos);
  const profiles = await selectProfiles(tx, workspaceId, [...new Set([...found.values()].flat())]);
  return new Map(
    asked.map((each) => {
      const ids = new Set(found.get(identifierKey(each.who)));
      return [each, profiles.filter(({ id }) => ids.has(id))];
    }),
  );
}
