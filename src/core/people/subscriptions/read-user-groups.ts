import Type, { type Static } from "typebox";
import { readGroups, type SubscriptionGroup } from "../../admin/workspaces/subscription-groups.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { NullableText, named } from "../../base/values/schemas.ts";
import { readTogether } from "../../database/database.ts";
import type { ProfileAddresses } from "../profiles/store.ts";
import { checkNames, type NameQuery } from "./check-names.ts";
import { READ_AS, type ReadServices, readHolders } from "./read-status.ts";
import { type GroupStateRow, readGroupStates } from "./states.ts";

export const UserGroups = named("UserSubscriptions", {
  email: NullableText,
  phone: NullableText,
  external_id: NullableText,
  subscription_groups: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      channel: Type.Enum(["email", "sms", "whatsapp"]),
      status: Type.Enum(["Subscribed", "Unsubscribed"]),
    }),
  ),
});

type UserGroups = Static<typeof UserGroups>;

const MOST_USERS = 100;

/**
 * Lists for each user the groups with a state. Users are in the order of creation, so that pages do
 * not overlap; users who share an address are listed separately.
 *
 * The shape is the publicly known one of `GET /subscription/user/status`.
 *
 * @param query names of all kinds together; at most 100 users from `offset` on.
 * @throws Problem INVALID_REQUEST.
 */
export function readUserGroups(
  { database }: ReadServices,
  workspace: Workspace,
  query: NameQuery & { readonly limit?: number; readonly offset?: number },
): Promise<{ users: UserGroups[]; total_count: number }> {
  const asked = checkNames(query);
  const { limit = MOST_USERS, offset = 0 } = query;
  return readTogether(database, async (tx) => {
    const holders = await readHolders(tx, workspace.id, asked);
    const users = new Map([...holders.values()].flat().map((each) => [each.id, each]));
    const ids = [...users.keys()].sort().slice(offset, offset + limit);
    const groups = await readGroups(tx, workspace.id);
    const states = await readGroupStates(tx, workspace.id, ids);
    return {
      users: ids.map((id) => userOf(users.get(id) as ProfileAddresses, groups, states)),
      total_count: users.size,
    };
  });
}

/** The state of a group that was removed is kept, but not shown. */
function userOf(
  { id, email, phone, externalId }: ProfileAddresses,
  groups: readonly SubscriptionGroup[],
  states: readonly GroupStateRow[],
): UserGroups {
  const own = new Map(
    states.filter((row) => row.profileId === id).map((row) => [row.groupId, READ_AS[row.state]]),
  );
  return {
    email,
    phone,
    external_id: externalId,
    subscription_groups: groups.flatMap(({ id: groupId, name, channel }) => {
      const status = own.get(groupId);
      return status ? [{ id: groupId, name, channel, status }] : [];
    }),
  };
}
