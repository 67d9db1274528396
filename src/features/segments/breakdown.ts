import { earlier } from "../../core/base/clock.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { CountingServices } from "./count-users.ts";
import { estimateSizes, type SegmentSize } from "./estimate.ts";
import { type Filter, leavesOf, readFilter, wordsOf } from "./filter.ts";
import type { FilterScope } from "./leaf.ts";

/*
 * Further results of a count: how many users each part of a filter keeps, and on which channels its
 * users can be reached. All of it is estimated from the sample of an estimate.
 */

/** How many parts and groups are counted, at most. */
const MOST_PARTS = 20;
const MOST_GROUPS = 20;

export interface Part {
  readonly condition: string;
  /** Users who meet this part. */
  readonly alone: SegmentSize;
  /**
   * In `all`, users who meet this part and the parts before it; in `any`, users who meet this part
   * or one before it.
   */
  readonly together: SegmentSize;
}

export interface Reach {
  readonly channel: string;
  /** The id of the subscription group; null for channels without one. */
  readonly groupId: string | null;
  readonly name: string;
  readonly size: SegmentSize;
}

export interface Breakdown {
  readonly parts: readonly Part[];
  readonly reach: readonly Reach[];
}

const CAN_RECEIVE_EMAIL = { email_available: true };

/** Those who did not refuse push messages and have a device to send them to. */
const CAN_RECEIVE_PUSH = {
  all: [{ not: { push_subscription: "unsubscribed" } }, { attribute: "push_tokens", exists: true }],
};

const HAS_PHONE = { attribute: "phone", exists: true };

interface Channel extends Omit<Reach, "size"> {
  readonly filter: Filter;
}

/** Every channel of a workspace, with who can be reached on it. */
function channelsOf(scope: FilterScope): Channel[] {
  const groups = [...scope.groups].slice(0, MOST_GROUPS).map(([id, { name, channel }]) => ({
    channel,
    groupId: id,
    name,
    filter: readFilter(
      {
        all: [
          { subscription_group: id, is: "subscribed" },
          channel === "email" ? CAN_RECEIVE_EMAIL : HAS_PHONE,
        ],
      },
      scope,
    ),
  }));
  const own = { groupId: null };
  return [
    { ...own, channel: "email", name: "Email", filter: readFilter(CAN_RECEIVE_EMAIL, scope) },
    { ...own, channel: "push", name: "Push", filter: readFilter(CAN_RECEIVE_PUSH, scope) },
    ...groups,
  ];
}

/** The parts that a filter consists of at its top. */
const partsOf = (filter: Filter): readonly Filter[] =>
  filter.op === "and" || filter.op === "or"
    ? (filter.conditions as readonly Filter[]).slice(0, MOST_PARTS)
    : [filter];

/**
 * Estimates each part of a filter, and whom the filter reaches.
 *
 * @param wants which of the two; the other result is empty.
 */
export async function breakDown(
  { database, clock, userTotals }: StoringServices & CountingServices,
  { workspace }: WorkspaceContext,
  { filter, scope }: { readonly filter: Filter; readonly scope: FilterScope },
  wants: { readonly parts: boolean; readonly reach: boolean },
): Promise<Breakdown> {
  const parts = wants.parts ? partsOf(filter) : [];
  const op = filter.op === "or" ? "or" : "and";
  const together = parts.map((_, index): Filter => ({ op, conditions: parts.slice(0, index + 1) }));
  const channels = wants.reach ? channelsOf(scope) : [];
  const reached = channels.map(
    (each): Filter => ({ op: "and", conditions: [filter, each.filter] }),
  );
  const all = [...parts, ...together, ...reached];
  if (all.length === 0) return { parts: [], reach: [] };
  const known = userTotals.readForEstimate(workspace.id);
  const sizes = await estimateSizes(database, workspace.id, all, clock.now(), known);
  const sizeAt = (place: number) => sizes[place] as SegmentSize;
  return {
    parts: parts.map((part, index) => ({
      condition: wordsOf(part),
      alone: sizeAt(index),
      together: sizeAt(parts.length + index),
    })),
    reach: channels.map(({ filter: _filter, ...channel }, index) => ({
      ...channel,
      size: sizeAt(2 * parts.length + index),
    })),
  };
}

/**
 * Results that are counted from rows that retention deletes, and the time since which they are
 * kept.
 */
export interface KeptSince {
  readonly events?: string;
  readonly purchases?: string;
}

/**
 * For a filter that reads events or purchases of the last days: the time since which they are kept,
 * unless for ever.
 */
export function keptSince(
  { clock }: Pick<StoringServices, "clock">,
  { workspace }: WorkspaceContext,
  filter: Filter,
): KeptSince {
  const { keep_events_days: events, keep_purchases_days: purchases } = workspace.settings;
  const reads = new Set(leavesOf(filter).map(({ readsExpiring }) => readsExpiring));
  const since = (days: number): string => earlier(clock.now(), { days }).toISOString();
  return {
    ...(reads.has("events") && events > 0 && { events: since(events) }),
    ...(reads.has("purchases") && purchases > 0 && { purchases: since(purchases) }),
  };
}
