import type { Transaction } from "../../core/database/database.ts";
import type { Of, SentMessage } from "../../core/people/activity/activity.ts";
import { setAppActivity } from "../../core/people/activity/write-activity.ts";
import type { ImportedUser } from "./check-user.ts";

type ListName = "apps" | "devices" | "interactions" | "messages";

/** The activity that an object sets for the user with this profile. */
export interface HistoryPart {
  readonly profileId: string;
  readonly user: Pick<ImportedUser, ListName>;
}

/** Sets apps, devices, interactions and messages; the profiles are locked by the transaction. */
export function writeHistory(
  tx: Transaction,
  workspaceId: number,
  parts: readonly HistoryPart[],
): Promise<void> {
  return setAppActivity(tx, workspaceId, {
    apps: lastOf(parts, "apps", ({ appId }) => appId),
    devices: lastOf(parts, "devices", ({ deviceId }) => deviceId),
    interactions: lastOf(parts, "interactions", ({ kind, id }) => `${kind} ${id}`),
    messages: lastOf(parts, "messages", ({ messageId }: SentMessage) => messageId),
  });
}

/** One row for each profile and key: if several objects set the same thing, the last one counts. */
function lastOf<List extends ListName>(
  parts: readonly HistoryPart[],
  list: List,
  keyOf: (thing: ImportedUser[List][number]) => string,
): Of<ImportedUser[List][number]>[] {
  const rows = new Map<string, Of<ImportedUser[List][number]>>();
  for (const { profileId, user } of parts) {
    for (const thing of user[list]) {
      rows.set(`${profileId} ${keyOf(thing)}`, { ...thing, profileId });
    }
  }
  return [...rows.values()];
}
