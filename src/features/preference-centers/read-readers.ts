import { readPageSettings } from "../../core/admin/workspaces/find-workspace.ts";
import { readGroups } from "../../core/admin/workspaces/subscription-groups.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import { findHolders } from "../../core/people/profiles/find-holders.ts";
import { emailValue, identifierKey } from "../../core/people/profiles/identifiers.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";
import {
  type EmailStateRow,
  type GroupStateRow,
  readEmailStates,
  readGroupStates,
} from "../../core/people/subscriptions/states.ts";
import { imageHostsOf } from "./page-policy.ts";
import type { Reader } from "./page-scope.ts";

/** Reads a user as a page shows them. @returns undefined if the user no longer exists. */
export async function readReader(
  database: Queryable,
  workspaceId: number,
  profileId: string,
): Promise<Reader | undefined> {
  return (await readReaders(database, workspaceId, [profileId])).get(profileId);
}

/**
 * Reads people of a workspace as pages show them, in five statements; two more if a profile was merged away.
 *
 * @returns them by the requested ids: the id of a merged profile gives the kept one.
 */
export async function readReaders(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<ReadonlyMap<string, Reader>> {
  const [profiles, groups, look] = await settleAll([
    readProfiles(database, workspaceId, profileIds),
    readGroups(database, workspaceId),
    readLook(database, workspaceId),
  ]);
  const found = [...new Set(profiles.values())];
  const addresses = found.flatMap(({ email }) => (email ? [emailValue(email)] : []));
  const [groupStates, emailStates] = await settleAll([
    readGroupStates(
      database,
      workspaceId,
      found.map(({ id }) => id),
    ),
    readEmailStates(database, workspaceId, [...new Set(addresses)]),
  ]);
  const readers = new Map(
    found.map((profile) => [
      profile.id,
      readerOf(profile, { groups, ...look }, groupStates, emailStates),
    ]),
  );
  return new Map(
    [...profiles].flatMap(([id, profile]) => {
      const reader = readers.get(profile.id);
      return reader ? [[id, reader] as const] : [];
    }),
  );
}

export async function readLook(
  database: Queryable,
  workspaceId: number,
): Promise<Pick<Reader, "brand" | "imageHosts">> {
  const settings = await readPageSettings(database, workspaceId);
  return { brand: settings.brand, imageHosts: imageHostsOf(settings) };
}

async function readProfiles(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<Map<string, ProfileRow>> {
  const rows = await selectProfiles(database, workspaceId, ids);
  const profiles = new Map(rows.map((row) => [row.id, row]));
  const missing = ids
    .filter((id) => !profiles.has(id))
    .map((value) => ({ kind: "platform_id", value }) as const);
  if (missing.length === 0) return profiles;
  const holders = await findHolders(database, workspaceId, missing);
  const keptId = (identifier: (typeof missing)[number]) =>
    holders.get(identifierKey(identifier))?.[0] ?? "";
  const keptIds = missing.map(keptId).filter((id) => !ids.includes(id));
  const kept = await selectProfiles(database, workspaceId, keptIds);
  const all = new Map([...profiles, ...kept.map((row) => [row.id, row] as const)]);
  for (const identifier of missing) {
    const profile = all.get(keptId(identifier));
    if (profile) profiles.set(identifier.value, profile);
  }
  return profiles;
}

function readerOf(
  profile: ProfileRow,
  ofWorkspace: Pick<Reader, "groups" | "brand" | "imageHosts">,
  groupStates: readonly GroupStateRow[],
  emailStates: readonly EmailStateRow[],
): Reader {
  const { id, externalId, email, phone, standardAttributes, customAttributes } = profile;
  const address = email === null ? undefined : emailValue(email);
  return {
    profileId: id,
    externalId,
    email,
    phone,
    standardAttributes,
    customAttributes,
    emailState: emailStates.find((row) => row.email === address)?.state ?? "subscribed",
    groupStates: new Map(
      groupStates.filter((row) => row.profileId === id).map((row) => [row.groupId, row.state]),
    ),
    ...ofWorkspace,
  };
}
