import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { addDecimals } from "../../core/base/values/decimals.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import { sum } from "../../core/base/values/sum.ts";
import { type Database, settleAll } from "../../core/database/database.ts";
import { dateOf } from "./days.ts";
import {
  type Recount,
  selectActivity,
  selectByDay,
  selectEventDays,
  selectGroups,
  selectRecount,
  selectTop,
  type Top,
} from "./store.ts";
import type { Count, CountKind } from "./tally.ts";
import type { CustomerCounts } from "./write-counts.ts";

export interface CustomerServices {
  readonly database: Database;
  readonly customerCounts: CustomerCounts;
}

const sumAmounts = (rows: readonly Count[]): string =>
  rows.map(({ amount }) => amount).reduce(addDecimals, "0");

const LISTED = 10;

/** How many groups are: a workspace may have thousands, each with hundreds of numbers. */
export const MOST_GROUPS = 100;

/** Numbers of the days of a period, and of the whole period before it. */
export interface Series {
  readonly days: number[];
  readonly before: number;
}

/** What the customers of a workspace did in the last days, and in as many days before. */
export async function readCustomers(
  { database, customerCounts }: CustomerServices,
  { workspace }: WorkspaceContext,
  length: number,
) {
  const { today } = customerCounts.daysOf(workspace.id);
  const first = today - length + 1;
  const since = first - length;
  const wanted = { since, first, limit: LISTED };
  const groups = await selectGroups(database, workspace.id, MOST_GROUPS);
  const optIns = ["email", ...groups.map(({ id }) => id)];
  const [counts, activity, events, products, own] = await settleAll([
    selectByDay(database, workspace.id, since, optIns),
    selectActivity(database, workspace.id, since),
    selectTop(database, workspace.id, "event", wanted),
    selectTop(database, workspace.id, "product", wanted),
    selectRecount(database, workspace.id),
  ]);
  const byKind = groupBy(counts, ({ kind }) => kind);
  const byName = groupBy(counts, ({ kind, name }) => `${kind} ${name}`);
  const ofKind = (kind: CountKind) => byKind.get(kind) ?? [];
  const ofName = (kind: CountKind, name: string) => byName.get(`${kind} ${name}`) ?? [];
  const seriesOf = (rows: readonly Pick<Count, "day" | "seen">[]) =>
    seriesFrom(rows, first, length);
  const standing = (kind: CountKind, name: string) =>
    Math.max(0, sum(ofName(kind, name).map(({ seen }) => seen)));
  const changesOf = (name: string) => ({
    optIns: seriesOf(ofName("opt_in", name)),
    optOuts: seriesOf(ofName("opt_out", name)),
  });
  const active = new Map(activity.map((each) => [each.day, each]));
  const activeIn = (span: "in1" | "in7" | "in30") => ({
    days: Array.from({ length }, (_, index) => active.get(first + index)?.[span] ?? 0),
    before: Array.from({ length }, (_, index) => active.get(since + index)?.[span] ?? 0),
  });
  return {
    ...standOf(own),
    days: daysFrom(first, length),
    users: { total: standing("users", ""), new: seriesOf(ofKind("new")) },
    active: { daily: activeIn("in1"), weekly: activeIn("in7"), monthly: activeIn("in30") },
    events: seriesOf(events.days),
    revenue: [...groupBy(ofKind("revenue"), ({ name }) => name)].map(([currency, rows]) => ({
      currency,
      purchases: seriesOf(rows),
      amounts: Array.from({ length }, (_, index) =>
        sumAmounts(
          rows.filter(({ day }) => (index === length - 1 ? day >= today : day === first + index)),
        ),
      ),
      before: sumAmounts(rows.filter(({ day }) => day < first)),
    })),
    topEvents: firstBy(events.top, "byCount"),
    growingEvents: firstBy(events.top, "byGrowth").filter(({ seen, before }) => seen > before),
    topProducts: firstBy(products.top, "byCount"),
    email: {
      users: standing("address", "email"),
      optedIn: standing("state", "email opted_in"),
      unsubscribed: standing("state", "email unsubscribed"),
      ...changesOf("email"),
    },
    phone: { users: standing("address", "phone") },
    groups: groups.map((group) => ({
      ...group,
      subscribed: standing("state", `${group.id} subscribed`),
      unsubscribed: standing("state", `${group.id} unsubscribed`),
      ...changesOf(group.id),
    })),
  };
}

/** How often an event was sent in the last days, and in as many days before. */
export async function readEvent(
  { database, customerCounts }: CustomerServices,
  { workspace }: WorkspaceContext,
  name: string,
  length: number,
) {
  const { today } = customerCounts.daysOf(workspace.id);
  const first = today - length + 1;
  // An event that another clock dates tomorrow counts as today's.
  const wanted = Array.from({ length: 2 * length + 1 }, (_, index) => first - length + index);
  const [rows, own] = await settleAll([
    selectEventDays(database, workspace.id, name, wanted),
    selectRecount(database, workspace.id),
  ]);
  return {
    ...standOf(own),
    days: daysFrom(first, length),
    events: seriesFrom(rows, first, length),
  };
}

const firstBy = (rows: readonly Top[], place: "byCount" | "byGrowth"): Top[] =>
  rows.filter((row) => row[place] <= LISTED).sort((one, other) => one[place] - other[place]);

const standOf = (own: Recount | undefined) => ({
  zone: own?.zone ?? "UTC",
  isWhole: own !== undefined && own.counted !== "",
});

const daysFrom = (first: number, length: number): string[] =>
  Array.from({ length }, (_, index) => dateOf(first + index));

function seriesFrom(
  rows: readonly Pick<Count, "day" | "seen">[],
  first: number,
  length: number,
): Series {
  const days = new Array<number>(length).fill(0);
  let before = 0;
  for (const { day, seen } of rows) {
    // An event that another clock dates tomorrow counts as today's.
    const place = Math.min(day - first, length - 1);
    if (day < first) before += seen;
    else days[place] = (days[place] ?? 0) + seen;
  }
  return { days, before };
}
