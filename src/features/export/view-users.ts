import type { Workspace } from "../../core/base/context/workspace.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import type { EventSummary, Of, PurchaseSummary } from "../../core/people/activity/activity.ts";
import { byProfile, readSummaries } from "../../core/people/activity/read-activity.ts";
import type { ShownProfile } from "../../core/people/profiles/export-store.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { type MergedProfile, selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import { selectProfiles } from "../../core/people/profiles/store.ts";
import {
  type GroupStateRow,
  readEmailStates,
  readGroupStates,
} from "../../core/people/subscriptions/states.ts";
import type { ActivitySource } from "./activity-view.ts";
import {
  type ExportField,
  isSummaryField,
  type ProfileSource,
  profileView,
} from "./profile-view.ts";
import { readActivitySource } from "./read-activity-source.ts";

/** The data of users, without the states of their addresses. */
export interface StoredUsers {
  readonly profiles: readonly ShownProfile[];
  readonly events: readonly Of<EventSummary>[];
  readonly purchases: readonly Of<PurchaseSummary>[];
  readonly groupStates: readonly GroupStateRow[];
  readonly activityOf: (profileId: string) => ActivitySource;
  readonly merged: readonly MergedProfile[];
}

/** Users in the publicly known shape, with these fields; ids without a profile are left out. */
export async function viewUsers(
  tx: Queryable,
  workspace: Workspace,
  ids: readonly string[],
  fields: readonly ExportField[],
  now: Date,
): Promise<Record<string, unknown>[]> {
  const sources = await sourcesOf(tx, workspace, ids, fields, now);
  return sources.map((source) => profileView(source, fields));
}

/** Reads what these fields show of users; ids without a profile are left out. */
export async function sourcesOf(
  tx: Queryable,
  workspace: Workspace,
  ids: readonly string[],
  fields: readonly ExportField[],
  now: Date,
): Promise<ProfileSource[]> {
  const [profiles, summaries, groupStates, activityOf, merged] = await settleAll([
    selectProfiles(tx, workspace.id, ids),
    readSummaries(tx, workspace.id, fields.some(isSummaryField) ? ids : []),
    readGroupStates(tx, workspace.id, ids),
    readActivitySource(tx, workspace.id, ids, fields, now),
    selectMergedInto(tx, workspace.id, fields.includes("merged_ids") ? ids : []),
  ]);
  const stored = { profiles, ...summaries, groupStates, activityOf, merged };
  return withEmailStates(tx, workspace, stored, fields);
}

/** Adds the states of addresses to users that were read, if a field shows them. */
export async function withEmailStates(
  tx: Queryable,
  workspace: Workspace,
  { profiles, events, purchases, groupStates, activityOf, merged }: StoredUsers,
  fields: readonly ExportField[],
): Promise<ProfileSource[]> {
  const emails = fields.includes("email_subscribe")
    ? profiles.flatMap(({ email }) => (email ? [emailValue(email)] : []))
    : [];
  const emailStates = await readEmailStates(tx, workspace.id, emails);
  const stateOf = new Map(emailStates.map((row) => [row.email, row.state]));
  const eventsOf = byProfile(events);
  const purchasesOf = byProfile(purchases);
  const groupStatesOf = byProfile(groupStates);
  return profiles.map((profile) => {
    const { id, email } = profile;
    return {
      workspace,
      profile,
      events: eventsOf(id),
      purchases: purchasesOf(id),
      groupStates: groupStatesOf(id),
      emailState: email === null ? undefined : stateOf.get(emailValue(email)),
      activity: activityOf(id),
      merged,
    };
  });
}
