import { addDecimals } from "../../core/base/values/decimals.ts";
import type { EventSummary, PurchaseSummary } from "../../core/people/activity/activity.ts";
import type { Dates } from "../../core/people/activity/returns-store.ts";
import { earlierOf, laterOf } from "../../core/people/identity/combine/effects.ts";
import type {
  InJson,
  KeptBefore,
  MergeRecord,
  Undated,
} from "../../core/people/identity/merge-record.ts";

/*
 * Counts and money are subtracted exactly. A first or last date that was the merged user's becomes the earliest or latest of
 * what remains: of what the kept user had before, of later merges, and of the events that are there. Retention may have
 * removed events, so the records come first.
 */

type Summary = Pick<EventSummary, "count" | "firstAt" | "lastAt"> & { readonly revenue?: string };
type Before = Pick<Undated<EventSummary>, "count" | "firstAt" | "lastAt"> & {
  readonly revenue?: string;
};

/** One event, or one product in one currency, through later merges. */
interface Followed<Row extends Before> {
  readonly theirs: Row;
  readonly before: Row | undefined;
  /** Of later merges together. */
  count: number;
  dates: Partial<Dates>;
}

export function startSummaries({ merged, kept, extent }: MergeRecord) {
  const isPartial = extent === "tokens_and_messages";
  const events = followAll(isPartial ? [] : merged.events, kept.events, eventKey);
  const purchases = followAll(isPartial ? [] : merged.purchases, kept.purchases, purchaseKey);
  return {
    events,
    purchases,
    pass: (later: MergeRecord): Pick<KeptBefore, "events" | "purchases"> => {
      const { kept: own, merged: theirs } = later;
      // A user whose data was left behind brought nothing.
      if (later.extent === "tokens_and_messages") {
        return { events: own.events, purchases: own.purchases };
      }
      return {
        events: passAll(own.events, theirs.events, events, eventKey),
        purchases: passAll(own.purchases, theirs.purchases, purchases, purchaseKey),
      };
    },
  };
}

export const eventKey = ({ name }: { readonly name: string }): string => name;

export const purchaseKey = ({
  productId,
  currency,
}: {
  readonly productId: string;
  readonly currency: string;
}): string => `${currency} ${productId}`;

function followAll<Row extends Before>(
  theirs: readonly Row[],
  own: readonly Row[],
  keyOf: (row: Row) => string,
): ReadonlyMap<string, Followed<Row>> {
  const before = new Map(own.map((row) => [keyOf(row), row]));
  return new Map(
    theirs.map((row) => {
      const key = keyOf(row);
      return [key, { theirs: row, before: before.get(key), count: 0, dates: {} }];
    }),
  );
}

/** The kept user's summaries in a later record, without those of the merged user. */
function passAll<Row extends Before>(
  own: readonly Row[],
  others: readonly Row[],
  followed: ReadonlyMap<string, Followed<Row>>,
  keyOf: (row: Row) => string,
): readonly Row[] {
  const rows = new Map(own.map((row) => [keyOf(row), row]));
  for (const other of others) {
    const each = followed.get(keyOf(other));
    if (!each) continue;
    const row = rows.get(keyOf(other));
    const left = row && subtract(row, each.theirs);
    if (row && left && left.count > 0) {
      const dates = datesLeft(each, row);
      rows.set(keyOf(other), {
        ...left,
        firstAt: dates.firstAt?.toISOString() ?? null,
        lastAt: dates.lastAt?.toISOString() ?? null,
      });
    } else rows.delete(keyOf(other));
    each.count += other.count;
    each.dates = joined(each.dates, datesOf(other));
  }
  return [...rows.values()];
}

/** Whether dates depend on events that were written since the merge, or are known from nothing else. */
export const needsRows = <Row extends Before>(
  now: Summary,
  { theirs, before, count }: Followed<Row>,
): boolean =>
  now.count - theirs.count > (before?.count ?? 0) + count ||
  before?.firstAt === null ||
  before?.lastAt === null;

/** @param rows the dates of the events that remain. @returns the summary that remains; undefined if none does. */
export function remaining<Own extends Summary, Row extends Before>(
  now: Own,
  each: Followed<Row>,
  rows: Dates | undefined,
): Own | undefined {
  const { theirs, before } = each;
  const left = subtract(now, theirs);
  if (left.count <= 0) return undefined;
  const isBefore = left.count === before?.count && each.count === 0;
  const dates = datesLeft(each, now, rows);
  return {
    ...left,
    // Without the digits that an addition has left.
    ...(isBefore && before?.revenue !== undefined && { revenue: before.revenue }),
    firstAt: dates.firstAt ?? now.firstAt,
    lastAt: dates.lastAt ?? now.lastAt,
  };
}

/** @returns only those that are known. */
function datesLeft(
  { theirs, before, dates }: Followed<Before>,
  now: Before | Summary,
  rows: Partial<Dates> = {},
): Partial<Dates> {
  const left = joined(joined(dates, before ? datesOf(before) : {}), rows);
  const [given, own] = [datesOf(now), datesOf(theirs)];
  const isFirst = given.firstAt?.getTime() === own.firstAt?.getTime();
  const isLast = given.lastAt?.getTime() === own.lastAt?.getTime();
  return known(isFirst ? left.firstAt : given.firstAt, isLast ? left.lastAt : given.lastAt);
}

const known = (firstAt: Date | undefined, lastAt: Date | undefined): Partial<Dates> => ({
  ...(firstAt && { firstAt }),
  ...(lastAt && { lastAt }),
});

const datesOf = ({ firstAt, lastAt }: Pick<Before | Summary, "firstAt" | "lastAt">) =>
  known(
    firstAt === null ? undefined : new Date(firstAt),
    lastAt === null ? undefined : new Date(lastAt),
  );

/** The earlier and the later one of what is known. */
const joined = (one: Partial<Dates>, other: Partial<Dates>): Partial<Dates> =>
  known(
    one.firstAt && other.firstAt
      ? earlierOf(one.firstAt, other.firstAt)
      : (one.firstAt ?? other.firstAt),
    one.lastAt && other.lastAt ? laterOf(one.lastAt, other.lastAt) : (one.lastAt ?? other.lastAt),
  );

function subtract<Row extends { readonly count: number; readonly revenue?: string }>(
  from: Row,
  { count, revenue }: { readonly count: number; readonly revenue?: string },
): Row {
  const left = { ...from, count: from.count - count };
  if (from.revenue === undefined || revenue === undefined) return left;
  const negative = revenue.startsWith("-") ? revenue.slice(1) : `-${revenue}`;
  return { ...left, revenue: addDecimals(from.revenue, negative) };
}

export const eventOf = (row: InJson<EventSummary>): EventSummary => ({
  ...row,
  firstAt: new Date(row.firstAt),
  lastAt: new Date(row.lastAt),
});

export const purchaseOf = (row: InJson<PurchaseSummary>): PurchaseSummary => ({
  ...row,
  firstAt: new Date(row.firstAt),
  lastAt: new Date(row.lastAt),
});
