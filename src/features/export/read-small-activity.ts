import type { JsonObject } from "../../core/base/values/plain-json.ts";
import type { Queryable } from "../../core/database/database.ts";
import type {
  AppUsage,
  Device,
  EventSummary,
  Interaction,
  InteractionKind,
  Of,
  PurchaseSummary,
} from "../../core/people/activity/activity.ts";
import type { ActivityPart } from "../../core/people/activity/size-store.ts";
import { type SmallPart, type SmallRow, selectSmallActivity } from "./small-activity-store.ts";

/** Together about as much as one response may hold. */
const MOST_ROWS = 5_000;
const MOST_CHARACTERS = 1_024;

/** The activity of profiles, with its size as `measureActivity` counts it. */
export interface SmallActivity {
  readonly events: Of<EventSummary>[];
  readonly purchases: Of<PurchaseSummary>[];
  readonly apps: Of<AppUsage>[];
  readonly devices: Of<Device>[];
  readonly interactions: Of<Interaction>[];
  readonly bytes: Map<ActivityPart, number>;
}

/**
 * Reads these parts of the activity in one statement, without measuring them first: the statement
 * has a bound.
 *
 * @returns undefined if there is more than that: then measure first.
 */
export async function readSmallActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  parts: readonly SmallPart[],
): Promise<SmallActivity | undefined> {
  const read: SmallActivity = {
    events: [],
    purchases: [],
    apps: [],
    devices: [],
    interactions: [],
    bytes: new Map(),
  };
  if (profileIds.length === 0 || parts.length === 0) return read;
  const rows = await selectSmallActivity(database, workspaceId, profileIds, parts, {
    limit: MOST_ROWS + 1,
    characters: MOST_CHARACTERS + 1,
  });
  if (rows.length > MOST_ROWS) return undefined;
  for (const row of rows) {
    if (row.details !== null && row.details.length > MOST_CHARACTERS) return undefined;
    const bytes = READERS[row.part](read, row);
    read.bytes.set(row.part, (read.bytes.get(row.part) ?? 0) + bytes);
  }
  return read;
}

/** Adds a row to the result. Each returns the row's size as `size-store.ts` counts it. */
const READERS: Readonly<Record<SmallPart, (read: SmallActivity, row: SmallRow) => number>> = {
  custom_events({ events }, { profileId, name, count, firstAt, lastAt }) {
    events.push({ profileId, name, count, firstAt, lastAt } as Of<EventSummary>);
    return Buffer.byteLength(name) + 120;
  },
  purchases({ purchases }, { profileId, name, label, count, revenue, firstAt, lastAt }) {
    const summary = { productId: name, currency: label, count, revenue, firstAt, lastAt };
    purchases.push({ profileId, ...summary } as Of<PurchaseSummary>);
    return Buffer.byteLength(name) + 160;
  },
  apps({ apps }, { profileId, name, label, count, firstAt, lastAt }) {
    const usage = { appId: name, version: label, sessions: count };
    apps.push({ profileId, ...usage, firstUsedAt: firstAt, lastUsedAt: lastAt } as Of<AppUsage>);
    return 300;
  },
  devices({ devices }, { profileId, name, details }) {
    devices.push({ profileId, deviceId: name, details: objectOf(details) });
    return bytesOfDetails(name, details);
  },
  interactions({ interactions }, { profileId, name, label, details }) {
    const kind = label as InteractionKind;
    interactions.push({ profileId, kind, id: name, details: objectOf(details) });
    return bytesOfDetails(name, details);
  },
};

const objectOf = (details: string | null): JsonObject => JSON.parse(details ?? "{}");

const bytesOfDetails = (name: string, details: string | null): number =>
  Buffer.byteLength(details ?? "") + Buffer.byteLength(name) + 50;
