import { allDone, type Queryable, type Transaction } from "../database/database.ts";
import { texts, timestamps, uuids } from "../database/typed-list.ts";
import type { Happened } from "./apply-item.ts";
import type { EventWork, PurchaseWork } from "./item.ts";

/*
 * Events and purchases, each with its summary. A summary is the aggregate of the rows, kept exact by
 * being written in the same transaction; its profile is locked by then, so that nobody else writes
 * the same summary.
 */

export async function insertEvents(
  tx: Transaction,
  workspaceId: number,
  events: readonly Happened<EventWork>[],
): Promise<void> {
  if (events.length === 0) return;
  // Both statements take them: written down once.
  const profileIds = uuids(events.map((event) => event.profileId));
  const names = texts(events.map((event) => event.work.name));
  const times = timestamps(events.map((event) => event.work.time.getTime() * 1_000));
  await allDone([
    tx.execute(
      `insert into events
         (workspace_id, profile_id, event_id, name, occurred_at, app_id, properties)
       select $1, profile_id, id, name, time, app_id, nullif(properties, 'null')
       from rows from (unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]),
           unnest($5::timestamptz[]), unnest($6::text[]), jsonb_array_elements($7::text::jsonb))
         as new (profile_id, id, name, time, app_id, properties)`,
      [
        workspaceId,
        profileIds,
        uuids(events.map((event) => event.id)),
        names,
        times,
        texts(events.map((event) => event.work.appId)),
        JSON.stringify(events.map((event) => event.work.properties)),
      ],
    ),
    tx.execute(
      `insert into event_summaries (workspace_id, profile_id, name, count, first_at, last_at)
       select $1, profile_id, name, count(*), min(time), max(time)
       from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as new (profile_id, name, time)
       group by profile_id, name
       on conflict (workspace_id, profile_id, name) do update set
         count = event_summaries.count + excluded.count,
         first_at = least(event_summaries.first_at, excluded.first_at),
         last_at = greatest(event_summaries.last_at, excluded.last_at)`,
      [workspaceId, profileIds, names, times],
    ),
  ]);
}

/** A purchase of quantity n counts as n purchases and n times the price. decision: Purchases. */
export async function insertPurchases(
  tx: Transaction,
  workspaceId: number,
  purchases: readonly Happened<PurchaseWork>[],
): Promise<void> {
  if (purchases.length === 0) return;
  const profileIds = purchases.map((purchase) => purchase.profileId);
  const products = purchases.map((purchase) => purchase.work.productId);
  const currencies = purchases.map((purchase) => purchase.work.currency);
  // As text: the engine reads the decimal that was sent, and adds without rounding.
  const prices = purchases.map((purchase) => String(purchase.work.price));
  const quantities = purchases.map((purchase) => purchase.work.quantity);
  const times = purchases.map((purchase) => purchase.work.time);
  await allDone([
    tx.query(
      `insert into purchases (workspace_id, profile_id, purchase_id, product_id, currency, price,
         quantity, occurred_at, app_id, properties)
       select $1, profile_id, id, product_id, currency, price::numeric, quantity, time, app_id,
         properties::jsonb
       from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::int[],
         $8::timestamptz[], $9::text[], $10::text[])
         as new (profile_id, id, product_id, currency, price, quantity, time, app_id, properties)`,
      [
        workspaceId,
        profileIds,
        purchases.map((purchase) => purchase.id),
        products,
        currencies,
        prices,
        quantities,
        times,
        purchases.map((purchase) => purchase.work.appId),
        purchases.map(
          (purchase) => purchase.work.properties && JSON.stringify(purchase.work.properties),
        ),
      ],
    ),
    tx.query(
      `insert into purchase_summaries
         (workspace_id, profile_id, product_id, currency, count, revenue, first_at, last_at)
       select $1, profile_id, product_id, currency, sum(quantity), sum(quantity * price::numeric),
         min(time), max(time)
       from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[], $7::timestamptz[])
         as new (profile_id, product_id, currency, price, quantity, time)
       group by profile_id, product_id, currency
       on conflict (workspace_id, profile_id, product_id, currency) do update set
         count = purchase_summaries.count + excluded.count,
         revenue = purchase_summaries.revenue + excluded.revenue,
         first_at = least(purchase_summaries.first_at, excluded.first_at),
         last_at = greatest(purchase_summaries.last_at, excluded.last_at)`,
      [workspaceId, profileIds, products, currencies, prices, quantities, times],
    ),
  ]);
}

export interface EventSummary {
  readonly profileId: string;
  readonly name: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export async function selectEventSummaries(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<EventSummary[]> {
  return database.query<EventSummary>(
    `select profile_id as "profileId", name, count, first_at as "firstAt", last_at as "lastAt"
     from event_summaries where workspace_id = $1 and profile_id = any($2::uuid[]) order by name`,
    [workspaceId, profileIds],
  );
}

export interface PurchaseSummary {
  readonly profileId: string;
  readonly productId: string;
  readonly currency: string;
  readonly count: number;
  /** An exact decimal, in the currency's base unit. */
  readonly revenue: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export async function selectPurchaseSummaries(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<PurchaseSummary[]> {
  return database.query<PurchaseSummary>(
    `select profile_id as "profileId", product_id as "productId", currency, count, revenue,
       first_at as "firstAt", last_at as "lastAt"
     from purchase_summaries where workspace_id = $1 and profile_id = any($2::uuid[])
     order by product_id, currency`,
    [workspaceId, profileIds],
  );
}

/** So many days back, that is since then. */
export interface Window {
  readonly days: number;
  readonly since: Date;
}

export interface RecentEvents {
  readonly profileId: string;
  readonly name: string;
  readonly days: number;
  readonly count: number;
}

/** How many events of each name fall into each of the windows; none leaves the row out. */
export async function selectRecentEvents(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  windows: readonly Window[],
): Promise<RecentEvents[]> {
  return database.query<RecentEvents>(
    `select profile_id as "profileId", name, days, count(*) as count
     from events join unnest($3::int[], $4::timestamptz[]) as recent (days, since)
       on occurred_at >= since
     where workspace_id = $1 and profile_id = any($2::uuid[])
     group by profile_id, name, days order by name, days`,
    [
      workspaceId,
      profileIds,
      windows.map((window) => window.days),
      windows.map((window) => window.since),
    ],
  );
}

export interface RecentPurchases {
  readonly profileId: string;
  readonly productId: string;
  readonly currency: string;
  readonly days: number;
  readonly count: number;
  /** An exact decimal, in the currency's base unit. */
  readonly revenue: string;
}

/** How many purchases of each product fall into each of the windows, and what they cost. */
export async function selectRecentPurchases(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  windows: readonly Window[],
): Promise<RecentPurchases[]> {
  return database.query<RecentPurchases>(
    `select profile_id as "profileId", product_id as "productId", currency, days,
       sum(quantity) as count, sum(quantity * price) as revenue
     from purchases join unnest($3::int[], $4::timestamptz[]) as recent (days, since)
       on occurred_at >= since
     where workspace_id = $1 and profile_id = any($2::uuid[])
     group by profile_id, product_id, currency, days order by product_id, currency, days`,
    [
      workspaceId,
      profileIds,
      windows.map((window) => window.days),
      windows.map((window) => window.since),
    ],
  );
}

/** Sets the summaries of events. At most one row for each profile and name. */
export async function upsertEventSummaries(
  tx: Transaction,
  workspaceId: number,
  summaries: readonly EventSummary[],
): Promise<void> {
  if (summaries.length === 0) return;
  await tx.query(
    `insert into event_summaries (workspace_id, profile_id, name, count, first_at, last_at)
     select $1, profile_id, name, count, first_at, last_at
     from unnest($2::uuid[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
       as new (profile_id, name, count, first_at, last_at)
     on conflict (workspace_id, profile_id, name) do update set
       count = excluded.count, first_at = excluded.first_at, last_at = excluded.last_at`,
    [
      workspaceId,
      summaries.map((summary) => summary.profileId),
      summaries.map((summary) => summary.name),
      summaries.map((summary) => summary.count),
      summaries.map((summary) => summary.firstAt),
      summaries.map((summary) => summary.lastAt),
    ],
  );
}

/** Sets the summaries of purchases. At most one row for each profile, product and currency. */
export async function upsertPurchaseSummaries(
  tx: Transaction,
  workspaceId: number,
  summaries: readonly PurchaseSummary[],
): Promise<void> {
  if (summaries.length === 0) return;
  await tx.query(
    `insert into purchase_summaries
       (workspace_id, profile_id, product_id, currency, count, revenue, first_at, last_at)
     select $1, profile_id, product_id, currency, count, revenue::numeric, first_at, last_at
     from unnest($2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::timestamptz[],
       $8::timestamptz[])
       as new (profile_id, product_id, currency, count, revenue, first_at, last_at)
     on conflict (workspace_id, profile_id, product_id, currency) do update set
       count = excluded.count, revenue = excluded.revenue,
       first_at = excluded.first_at, last_at = excluded.last_at`,
    [
      workspaceId,
      summaries.map((summary) => summary.profileId),
      summaries.map((summary) => summary.productId),
      summaries.map((summary) => summary.currency),
      summaries.map((summary) => summary.count),
      summaries.map((summary) => summary.revenue),
      summaries.map((summary) => summary.firstAt),
      summaries.map((summary) => summary.lastAt),
    ],
  );
}

/**
 * Writes the events and purchases of profiles down at others, unchanged; those they came from are
 * removed afterwards.
 *
 * Not `delete … returning` into `insert`: Citus knows no such statement across shards. The profiles
 * are locked, so nothing can be added between the two statements. `= any` beside the join, so that
 * the rows are found by key whatever the engine believes about the table.
 */
export async function copyEventsAndPurchases(
  tx: Transaction,
  workspaceId: number,
  from: readonly string[],
  to: readonly string[],
): Promise<void> {
  await allDone([
    tx.query(
      `insert into events
         (workspace_id, profile_id, event_id, name, occurred_at, app_id, properties)
       select $1, move.kept, e.event_id, e.name, e.occurred_at, e.app_id, e.properties
       from events e join unnest($2::uuid[], $3::uuid[]) as move (merged, kept)
         on e.profile_id = move.merged
       where e.workspace_id = $1 and e.profile_id = any($2::uuid[])`,
      [workspaceId, from, to],
    ),
    tx.query(
      `insert into purchases (workspace_id, profile_id, purchase_id, product_id, currency, price,
         quantity, occurred_at, app_id, properties)
       select $1, move.kept, p.purchase_id, p.product_id, p.currency, p.price, p.quantity,
         p.occurred_at, p.app_id, p.properties
       from purchases p join unnest($2::uuid[], $3::uuid[]) as move (merged, kept)
         on p.profile_id = move.merged
       where p.workspace_id = $1 and p.profile_id = any($2::uuid[])`,
      [workspaceId, from, to],
    ),
  ]);
}

const TABLES = ["events", "event_summaries", "purchases", "purchase_summaries"] as const;

/** Removes the events and purchases of these profiles, with their summaries. */
export async function deleteEventsAndPurchases(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  await allDone(
    TABLES.map((table) =>
      tx.query(`delete from ${table} where workspace_id = $1 and profile_id = any($2::uuid[])`, [
        workspaceId,
        profileIds,
      ]),
    ),
  );
}

export async function deleteAllEventsAndPurchases(
  tx: Transaction,
  workspaceId: number,
): Promise<void> {
  for (const table of TABLES) {
    await tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId]);
  }
}
