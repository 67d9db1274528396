import { jsonOf } from "../../base/values/plain-json.ts";
import { bucketOfId, bucketsOfIds, OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import { type Queryable, settleAll, type Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { Occurrence, PurchaseDetails } from "../profiles/written.ts";
import type { Of, PurchaseSummary, RecentPurchases, Window } from "./activity.ts";
import { setterOf } from "./set-rows-store.ts";

/** Adds purchases and updates their summaries. A purchase of quantity n counts as n purchases and n times the price. */
export async function insertPurchases(
  tx: Transaction,
  workspaceId: number,
  purchases: readonly Occurrence<PurchaseDetails>[],
): Promise<void> {
  if (purchases.length === 0) return;
  const columns = columnsOf(purchases);
  await settleAll([
    insertRows(tx, workspaceId, purchases, columns),
    addToSummaries(tx, workspaceId, columns),
  ]);
}

type Columns = ReturnType<typeof columnsOf>;

function columnsOf(purchases: readonly Occurrence<PurchaseDetails>[]) {
  const profileIds = purchases.map(({ profileId }) => profileId);
  return {
    profileIds,
    buckets: bucketsOfIds(profileIds),
    products: purchases.map(({ work }) => work.productId),
    currencies: purchases.map(({ work }) => work.currency),
    // As text: the engine reads the decimal that was sent, and adds without rounding.
    prices: purchases.map(({ work }) => String(work.price)),
    quantities: purchases.map(({ work }) => work.quantity),
    times: purchases.map(({ work }) => work.time),
  };
}

const insertRows = (
  tx: Transaction,
  workspaceId: number,
  purchases: readonly Occurrence<PurchaseDetails>[],
  { profileIds, buckets, products, currencies, prices, quantities, times }: Columns,
) =>
  tx.query(
    `insert into purchases (workspace_id, bucket, profile_id, purchase_id, product_id, currency,
       price, quantity, occurred_at, app_id, properties)
     select $1, bucket, profile_id, id, product_id, currency, price::numeric, quantity, time,
       app_id, properties::jsonb
     from buckets join unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[],
       $7::int[], $8::timestamptz[], $9::text[], $10::text[], $11::smallint[])
       as new (profile_id, id, product_id, currency, price, quantity, time, app_id, properties,
         bucket) using (bucket)
     where bucket = any($12::smallint[])`,
    [
      workspaceId,
      profileIds,
      purchases.map(({ id }) => id),
      products,
      currencies,
      prices,
      quantities,
      times,
      purchases.map(({ work }) => work.appId),
      purchases.map(({ work }) => work.properties && jsonOf(work.properties)),
      buckets.each,
      buckets.all,
    ],
  );

const addToSummaries = (
  tx: Transaction,
  workspaceId: number,
  { profileIds, buckets, products, currencies, prices, quantities, times }: Columns,
) =>
  tx.query(
    `insert into purchase_summaries
       (workspace_id, bucket, profile_id, product_id, currency, count, revenue, first_at, last_at)
     select $1, bucket, profile_id, product_id, currency, sum(quantity),
       sum(quantity * price::numeric), min(time), max(time)
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[],
       $7::timestamptz[], $8::smallint[])
       as new (profile_id, product_id, currency, price, quantity, time, bucket) using (bucket)
     where bucket = any($9::smallint[])
     group by bucket, profile_id, product_id, currency
     on conflict (workspace_id, profile_id, bucket, product_id, currency) do update set
       count = purchase_summaries.count + excluded.count,
       revenue = purchase_summaries.revenue + excluded.revenue,
       first_at = least(purchase_summaries.first_at, excluded.first_at),
       last_at = greatest(purchase_summaries.last_at, excluded.last_at)`,
    [
      workspaceId,
      profileIds,
      products,
      currencies,
      prices,
      quantities,
      times,
      buckets.each,
      buckets.all,
    ],
  );

export const selectPurchaseSummaries = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<PurchaseSummary>>(
    `select profile_id as "profileId", product_id as "productId", currency, count, revenue,
       first_at as "firstAt", last_at as "lastAt"
     from purchase_summaries where ${OF_PROFILES}
     order by product_id, currency`,
    ofProfiles(workspaceId, profileIds),
  );

/** The purchases of one product by a profile, a row per currency. */
export const selectProductSummaries = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  productId: string,
) =>
  database.query<PurchaseSummary>(
    `select product_id as "productId", currency, count, revenue, first_at as "firstAt",
       last_at as "lastAt"
     from purchase_summaries
     where workspace_id = $1 and profile_id = $2 and bucket = $4 and product_id = $3`,
    [workspaceId, profileId, productId, bucketOfId(profileId)],
  );

/** Counts and sums the purchases of each product in each of the windows. */
export const selectRecentPurchases = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  windows: readonly Window[],
) =>
  database.query<Of<RecentPurchases>>(
    `select profile_id as "profileId", product_id as "productId", currency, days,
       sum(quantity) as count, sum(quantity * price) as revenue
     from purchases join unnest($3::int[], $4::timestamptz[]) as recent (days, since)
       on occurred_at >= since
     where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($5::smallint[])
     group by profile_id, product_id, currency, days order by product_id, currency, days`,
    [workspaceId, profileIds, ...listsOf(windows, "days", "since"), bucketsOfIds(profileIds).all],
  );

/** Sets the summaries of purchases. At most one row for each profile, product and currency. */
export const upsertPurchaseSummaries = setterOf<PurchaseSummary>(
  "purchase_summaries",
  [
    ["product_id", "text", "productId"],
    ["currency", "text", "currency"],
  ],
  [
    ["count", "bigint", "count"],
    ["revenue", "numeric", "revenue"],
    ["first_at", "timestamptz", "firstAt"],
    ["last_at", "timestamptz", "lastAt"],
  ],
);
