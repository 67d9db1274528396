import Type, { type Static } from "typebox";
import { readGroups } from "../../core/admin/workspaces/subscription-groups.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Channel } from "../../core/base/context/workspace.ts";
import { EmailStateName } from "../../core/base/values/email-states.ts";
import { NullableText, named, nullable } from "../../core/base/values/schemas.ts";
import { sum } from "../../core/base/values/sum.ts";
import { type Queryable, readTogether, settleAll } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { readMessageCounts, readSummaries } from "../../core/people/activity/read-activity.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import type { ProfileRow } from "../../core/people/profiles/store.ts";
import { EXPORT_FIELDS, type ExportField, viewUsers } from "../export/feature.ts";
import { findRecord } from "./find-record.ts";
import { selectAddressState, selectStandingGroupStates } from "./person-states-store.ts";

/** Everything that is stored about one person, without the entries of the timeline. */
export const PersonRecord = named("UserRecord", {
  user: Type.Record(Type.String(), Type.Unknown(), {
    description: "The profile with the fields of an export.",
  }),
  updated_at: Type.String(),
  redirects: Type.Array(Type.Object({ platform_id: NullableText, external_id: NullableText }), {
    description: "Merged users and renamed external ids that identify this user.",
  }),
  subscriptions: Type.Object({
    email: nullable(
      Type.Object({
        address: Type.String(),
        state: Type.Union([
          EmailStateName,
          Type.Null({ description: "Never set, so it counts as subscribed." }),
        ]),
        set_at: NullableText,
        hard_bounced_at: NullableText,
      }),
    ),
    groups: Type.Array(
      Type.Object({
        subscription_group_id: Type.String(),
        /** Null if the workspace no longer has the group. */
        name: NullableText,
        channel: NullableText,
        /** The address that messages of the group go to. */
        address: NullableText,
        state: Type.Enum(["subscribed", "unsubscribed"]),
        changed_at: Type.String(),
      }),
    ),
  }),
  counts: Type.Object({
    events: Type.Integer({ description: "How many events." }),
    purchases: Type.Integer({ description: "How many purchases." }),
    messages: Type.Integer(),
  }),
});

type PersonRecord = Static<typeof PersonRecord>;

/** The message history and single events are in the timeline; recent days can be counted from them. */
const NOT_SHOWN: readonly ExportField[] = ["message_history", "recent_activity", "merged_ids"];

const FIELDS = EXPORT_FIELDS.filter((field) => !NOT_SHOWN.includes(field));

/**
 * Reads everything that is stored about one person, from one snapshot.
 *
 * @returns the record; for a merged user, the platform_id of the kept one.
 * @throws Problem NOT_FOUND.
 */
export function readRecord(
  { database, clock }: StoringServices,
  { workspace }: WorkspaceContext,
  platformId: string,
): Promise<PersonRecord | { readonly mergedInto: string }> {
  return readTogether(database, async (tx) => {
    const found = await findRecord(tx, workspace.id, platformId);
    if ("mergedInto" in found) return found;
    const { profile } = found;
    const ids = [profile.id];
    const [[user], redirects, email, groups, counts] = await settleAll([
      viewUsers(tx, workspace, ids, FIELDS, clock.now()),
      selectMergedInto(tx, workspace.id, ids),
      emailOf(tx, workspace.id, profile),
      groupsOf(tx, workspace.id, profile),
      countsOf(tx, workspace.id, profile.id),
    ]);
    return {
      user: user ?? {},
      updated_at: new Date(profile.updatedAtMicros / 1_000).toISOString(),
      redirects: redirects.map((each) => ({
        platform_id: each.isRename ? null : each.profileId,
        external_id: each.externalId,
      })),
      subscriptions: { email, groups },
      counts,
    };
  });
}

async function emailOf(
  tx: Queryable,
  workspaceId: number,
  { email }: ProfileRow,
): Promise<PersonRecord["subscriptions"]["email"]> {
  if (email === null) return null;
  const { state, setAt, bouncedAt } = await selectAddressState(tx, workspaceId, emailValue(email));
  return {
    address: email,
    state,
    set_at: setAt?.toISOString() ?? null,
    hard_bounced_at: bouncedAt?.toISOString() ?? null,
  };
}

async function groupsOf(
  tx: Queryable,
  workspaceId: number,
  { id, email, phone }: ProfileRow,
): Promise<PersonRecord["subscriptions"]["groups"]> {
  const [states, groups] = await settleAll([
    selectStandingGroupStates(tx, workspaceId, id),
    readGroups(tx, workspaceId),
  ]);
  const groupOf = new Map(groups.map((group) => [group.id, group]));
  return states.map(({ groupId, state, changedAt }) => {
    const group = groupOf.get(groupId);
    const channel = (group?.channel as Channel | undefined) ?? null;
    const address = channel === "email" ? email : phone;
    return {
      subscription_group_id: groupId,
      name: group?.name ?? null,
      channel,
      address: channel === null ? null : address,
      state,
      changed_at: changedAt.toISOString(),
    };
  });
}

async function countsOf(
  tx: Queryable,
  workspaceId: number,
  profileId: string,
): Promise<PersonRecord["counts"]> {
  const [{ events, purchases }, messages] = await settleAll([
    readSummaries(tx, workspaceId, [profileId]),
    readMessageCounts(tx, workspaceId, [profileId]),
  ]);
  const countOf = (rows: readonly { readonly count: number }[]) =>
    sum(rows.map(({ count }) => count));
  return {
    events: countOf(events),
    purchases: countOf(purchases),
    messages: messages.get(profileId) ?? 0,
  };
}
