import type { Workspace } from "../../core/base/context/workspace.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import {
  type ShownProfile,
  type SmallProfile,
  selectSmallProfiles,
} from "../../core/people/profiles/export-store.ts";
import { readGroupStates } from "../../core/people/subscriptions/states.ts";
import { FIELDS_OF, MOST_BYTES, refuseOverBudget } from "./export-budget.ts";
import type { ExportField } from "./profile-view.ts";
import { activitySource, NOTHING_ON_REQUEST } from "./read-activity-source.ts";
import { readSmallActivity } from "./read-small-activity.ts";
import type { SmallPart } from "./small-activity-store.ts";
import type { StoredUsers } from "./view-users.ts";

const SMALL_PARTS: readonly SmallPart[] = [
  "custom_events",
  "purchases",
  "apps",
  "devices",
  "interactions",
];

/** JSON values of a profile: its aliases and two kinds of attributes. */
const VALUES = 3;

/**
 * Reads users whose profiles are small, as nearly all are, in three statements. The statements have
 * bounds, so nothing is measured first.
 *
 * @param ids at least one.
 * @param fields cheap ones (`isCheap`).
 * @returns undefined if something is too large for that: then measure first.
 * @throws Problem INVALID_REQUEST over the budget of an export.
 */
export async function readSmallUsers(
  tx: Queryable,
  workspace: Workspace,
  ids: readonly string[],
  fields: readonly ExportField[],
): Promise<StoredUsers | undefined> {
  // Together no more than one response may hold.
  const characters = Math.floor(MOST_BYTES / VALUES / ids.length);
  const parts = SMALL_PARTS.filter((part) => FIELDS_OF[part].some((each) => fields.includes(each)));
  const [texts, activity, groupStates] = await settleAll([
    selectSmallProfiles(tx, workspace.id, ids, characters + 1),
    readSmallActivity(tx, workspace.id, ids, parts),
    fields.includes("subscription_groups")
      ? readGroupStates(tx, workspace.id, ids)
      : Promise.resolve([]),
  ]);
  if (!activity || texts.some((profile) => longest(profile) > characters)) return undefined;
  const bytes = texts.reduce((sum, profile) => sum + bytesOf(profile), 0);
  refuseOverBudget(bytes, activity.bytes, fields);
  return {
    profiles: texts.map(profileOf),
    events: activity.events,
    purchases: activity.purchases,
    groupStates,
    activityOf: await activitySource(tx, workspace.id, { ...activity, ...NOTHING_ON_REQUEST }),
    merged: [],
  };
}

const longest = ({ aliases, standardAttributes, customAttributes }: SmallProfile): number =>
  Math.max(aliases.length, standardAttributes.length, customAttributes.length);

/** As `measureProfiles` counts them. */
const bytesOf = ({ aliases, standardAttributes, customAttributes }: SmallProfile): number =>
  Buffer.byteLength(aliases) +
  Buffer.byteLength(standardAttributes) +
  Buffer.byteLength(customAttributes);

const profileOf = (profile: SmallProfile): ShownProfile => ({
  ...profile,
  aliases: JSON.parse(profile.aliases),
  standardAttributes: JSON.parse(profile.standardAttributes),
  customAttributes: JSON.parse(profile.customAttributes),
});
