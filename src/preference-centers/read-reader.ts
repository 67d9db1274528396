import type { Queryable } from "../database/database.ts";
import { findHolders } from "../profiles/find-holders.ts";
import { emailValue, identifierKey } from "../profiles/identifiers.ts";
import { type ProfileRow, selectProfiles } from "../profiles/store.ts";
import { readEmailStates, readGroupStates } from "../subscriptions/states.ts";
import { readGroups } from "../workspaces/subscription-groups.ts";
import type { Reader } from "./page-scope.ts";

/**
 * Reads somebody as a page shows them, as they are now.
 *
 * @returns undefined where the person is gone. A merged profile's id leads to the kept one.
 */
export async function readReader(
  database: Queryable,
  workspaceId: number,
  profileId: string,
): Promise<Reader | undefined> {
  const [profile, groups, states] = await Promise.all([
    readProfile(database, workspaceId, profileId),
    readGroups(database, workspaceId),
    readGroupStates(database, workspaceId, [profileId]),
  ]);
  if (!profile) return undefined;
  const isMerged = profile.id !== profileId;
  const [own, email] = await Promise.all([
    isMerged ? readGroupStates(database, workspaceId, [profile.id]) : states,
    profile.email ? readEmailStates(database, workspaceId, [emailValue(profile.email)]) : [],
  ]);
  return {
    profileId: profile.id,
    externalId: profile.externalId,
    email: profile.email,
    phone: profile.phone,
    standardAttributes: profile.standardAttributes,
    customAttributes: profile.customAttributes,
    emailState: email[0]?.state ?? "subscribed",
    groupStates: new Map(own.map((row) => [row.groupId, row.state])),
    groups,
  };
}

async function readProfile(
  database: Queryable,
  workspaceId: number,
  profileId: string,
): Promise<ProfileRow | undefined> {
  const [profile] = await selectProfiles(database, workspaceId, [profileId]);
  if (profile) return profile;
  const who = { kind: "platform_id", value: profileId } as const;
  const [kept = profileId] =
    (await findHolders(database, workspaceId, [who])).get(identifierKey(who)) ?? [];
  if (kept === profileId) return undefined;
  return (await selectProfiles(database, workspaceId, [kept]))[0];
}
