import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { forwardPage, invalidCursor, opaqueCursor, readOpaque } from "../../core/base/pages.ts";
import { readQueryTime } from "../../core/base/values/query-time.ts";
import { Cursor } from "../../core/base/values/schemas.ts";
import { parseTime } from "../../core/base/values/times.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import { type Queryable, readTogether, settleAll } from "../../core/database/database.ts";
import type { TimelineRange } from "../../core/people/activity/activity.ts";
import type { FeedWorkspace } from "../../core/people/changes/read-changes.ts";
import { selectIdentityChanges } from "../../core/people/identity/store.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import type { ProfileRow } from "../../core/people/profiles/store.ts";
import {
  readEmailChangesBefore,
  readGroupChangesBefore,
} from "../../core/people/subscriptions/person-states.ts";
import { findRecord } from "./find-record.ts";
import { readAttributeChanges } from "./person-changes.ts";
import type { RecordServices } from "./search-users.ts";
import {
  attributesEntry,
  emailEntry,
  eventEntry,
  groupEntry,
  identityEntry,
  messageEntry,
  purchaseEntry,
  TIMELINE_KINDS,
  type TimelineEntry,
} from "./timeline-entry.ts";
import {
  selectEventsBefore,
  selectMessagesBefore,
  selectPurchasesBefore,
} from "./timeline-store.ts";

/*
 * The timeline of one person: what several tables hold, merged by time, the newest first. A cursor
 * names the last entry by its time, its source and its id, so entries of equal times are neither
 * lost nor repeated, and concurrent writes move nothing.
 */

const PAGE = 50;

export const TimelineQuery = Type.Object({
  kind: Type.Optional(Type.Array(Type.Enum([...TIMELINE_KINDS]), { minItems: 1, maxItems: 20 })),
  event: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "Only events with this name." }),
  ),
  since: Type.Optional(Type.String({ maxLength: 64 })),
  until: Type.Optional(
    Type.String({ maxLength: 64, description: "Only entries before this time, in ISO 8601." }),
  ),
  cursor: Cursor,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: PAGE })),
});

interface TimelinePerson {
  readonly workspace: FeedWorkspace;
  readonly profile: ProfileRow;
  readonly mergedIds: readonly string[];
}

interface TimelineSource {
  readonly name: string;
  readonly kind: TimelineEntry["kind"];
  /** An id before all others of the source. */
  readonly lowestId: string;
  /** The newest first; of equal times the highest id first. */
  read(
    tx: Queryable,
    workspaceId: number,
    of: TimelinePerson,
    range: TimelineRange,
    /** Gets the time from which the entries are complete. */
    onComplete: (since: Date | null) => void,
  ): Promise<TimelineEntry[]>;
}

const LOWEST_UUID = "00000000-0000-0000-0000-000000000000";

/** A source whose rows have the id of their profile. */
const ofProfile = <Row>(
  name: string,
  kind: TimelineSource["kind"],
  select: (tx: Queryable, workspaceId: number, id: string, range: TimelineRange) => Promise<Row[]>,
  entryOf: (row: Row) => TimelineEntry,
  lowestId = LOWEST_UUID,
): TimelineSource => ({
  name,
  kind,
  lowestId,
  read: async (tx, workspaceId, { profile }, range) =>
    (await select(tx, workspaceId, profile.id, range)).map(entryOf),
});

/** The order of entries with equal times. */
const SOURCES: readonly TimelineSource[] = [
  ofProfile("events", "event", selectEventsBefore, eventEntry),
  ofProfile("purchases", "purchase", selectPurchasesBefore, purchaseEntry),
  ofProfile("messages", "message", selectMessagesBefore, messageEntry, ""),
  ofProfile("groups", "subscription", readGroupChangesBefore, groupEntry),
  {
    name: "emails",
    kind: "subscription",
    lowestId: LOWEST_UUID,
    async read(tx, workspaceId, { profile: { email } }, range) {
      if (email === null) return [];
      const changes = await readEmailChangesBefore(tx, workspaceId, emailValue(email), range);
      return changes.map(emailEntry);
    },
  },
  {
    name: "identities",
    kind: "identity",
    lowestId: LOWEST_UUID,
    read: async (tx, workspaceId, { profile, mergedIds }, range) =>
      (await selectIdentityChanges(tx, workspaceId, [profile.id, ...mergedIds], range)).map(
        identityEntry,
      ),
  },
  {
    name: "attributes",
    kind: "attributes",
    lowestId: "",
    async read(tx, _workspaceId, { workspace, profile }, range, onComplete) {
      const { changes, since } = await readAttributeChanges(tx, workspace, profile.id, range);
      onComplete(since);
      return changes.map(attributesEntry);
    },
  },
];

export type Timeline =
  | {
      readonly entries: readonly TimelineEntry[];
      readonly attributes_since: string | null;
      readonly next_cursor?: string;
    }
  | { readonly mergedInto: string };

/**
 * Reads a page of a person's timeline.
 *
 * @returns the entries, and the cursor of the next page if there is one; for a merged user, the
 *   platform_id of the kept one.
 * @throws Problem NOT_FOUND for the user; INVALID_REQUEST for `since`, `until` or the cursor.
 */
export async function readTimeline(
  { database }: RecordServices,
  { workspace }: WorkspaceContext,
  platformId: string,
  { kind: kinds, event, since, until, cursor, limit = PAGE }: Static<typeof TimelineQuery>,
): Promise<Timeline> {
  const sources = SOURCES.filter(
    ({ kind }) => (kinds?.includes(kind) ?? true) && (event === undefined || kind === "event"),
  );
  const sinceTime = readQueryTime("since", since);
  const untilTime = readQueryTime("until", until);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  return readTogether(database, async (tx) => {
    const found = await findRecord(tx, workspace.id, platformId);
    if ("mergedInto" in found) return found;
    const merged = await selectMergedInto(tx, workspace.id, [platformId]);
    let attributesSince: Date | null = null;
    const person = {
      workspace,
      profile: found.profile,
      mergedIds: merged.map((each) => each.profileId),
    };
    const lists = await settleAll(
      sources.map(async (source) => {
        const from = untilTime && { at: untilTime, id: source.lowestId };
        const before = after ? startOf(source, after) : from;
        const range = { before, since: sinceTime, event, limit: limit + 1 };
        const entries = await source.read(tx, workspace.id, person, range, (time) => {
          attributesSince = time;
        });
        return entries.map((entry) => ({ source: source.name, entry }));
      }),
    );
    // Stable: entries of one source and time keep the order of their statement.
    const all = lists.flat().sort((one, other) => newestFirst(one.entry.at, other.entry.at));
    const { rows, next } = forwardPage(all, limit, cursorOf);
    const since = attributesSince as Date | null;
    const entries = rows.map(({ entry }) => entry);
    return { entries, attributes_since: since?.toISOString() ?? null, ...next };
  });
}

/** ISO 8601 in UTC sorts as text. */
const newestFirst = (one: string, other: string): number =>
  Number(other > one) - Number(one > other);

interface Position {
  readonly at: Date;
  readonly source: string;
  readonly id: string;
}

/** Where a source resumes after one of its own entries or an entry of another source. */
function startOf(
  source: TimelineSource,
  { at, source: name, id }: Position,
): { at: Date; id: string } {
  if (source.name === name) return { at, id };
  const isDone = rankOf(source.name) < rankOf(name);
  // Times are whole milliseconds, so the lowest id of the next one lets all of this one through.
  return { at: isDone ? at : new Date(Math.min(at.getTime() + 1, LAST_TIME)), id: source.lowestId };
}

/** No event may be later, and the engine reads no later time in this form. */
const LAST_TIME = Date.parse("9999-12-31T23:59:59.999Z");

const rankOf = (name: string): number => SOURCES.findIndex((source) => source.name === name);

const cursorOf = ({ source, entry }: { source: string; entry: TimelineEntry }): string =>
  opaqueCursor(`${entry.at} ${source} ${entry.id}`);

function readCursor(cursor: string): Position {
  const [time = "", name = "", id = ""] = readOpaque(cursor, /^(\S+) (\w+) (.+)$/s);
  const at = parseTime(time);
  const source = SOURCES.find((each) => each.name === name);
  const isId = source?.lowestId === "" || isUuid(id);
  if (at && source && isId) return { at, source: name, id };
  throw invalidCursor();
}
