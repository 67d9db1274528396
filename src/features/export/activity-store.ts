import { readByCursor } from "../../core/database/cursor.ts";
import type { Queryable } from "../../core/database/database.ts";
import {
  NAME_COLUMNS,
  type ProfileFilter,
  profileCondition,
} from "../../core/people/profiles/export-store.ts";
import type { ProfileNames } from "../../core/people/profiles/identifiers.ts";
import type { EventDetails, PurchaseDetails } from "../../core/people/profiles/written.ts";

/* All events or purchases of a workspace with the names of their users, in portions: by user, then by time. */

/** The exported rows; undefined members do not narrow. */
export interface ActivityFilter extends ProfileFilter {
  /** Included. */
  readonly since: Date | undefined;
  /** Not included. */
  readonly until: Date | undefined;
}

export type ExportedEvent = EventDetails & ProfileNames;

export const selectAllEvents = (
  tx: Queryable,
  workspaceId: number,
  filter: ActivityFilter,
  portion: number,
): AsyncGenerator<ExportedEvent[]> =>
  readByCursor<ExportedEvent>(
    tx,
    "exported_events",
    `select e.name, e.occurred_at as time, e.app_id as "appId", e.properties, ${NAME_COLUMNS}
     from events e join profiles p using (workspace_id, bucket, profile_id)
     where workspace_id = $1 and ${within("e", filter)}
     order by e.profile_id, e.bucket, e.occurred_at, e.event_id`,
    parametersOf(workspaceId, filter),
    portion,
  );

export type ExportedPurchase = Omit<PurchaseDetails, "price"> &
  ProfileNames & {
    /** An exact decimal. */
    readonly price: string;
  };

export const selectAllPurchases = (
  tx: Queryable,
  workspaceId: number,
  filter: ActivityFilter,
  portion: number,
): AsyncGenerator<ExportedPurchase[]> =>
  readByCursor<ExportedPurchase>(
    tx,
    "exported_purchases",
    `select b.product_id as "productId", b.currency, b.price, b.quantity, b.occurred_at as time,
       b.app_id as "appId", b.properties, ${NAME_COLUMNS}
     from purchases b join profiles p using (workspace_id, bucket, profile_id)
     where workspace_id = $1 and ${within("b", filter)}
     order by b.profile_id, b.bucket, b.occurred_at, b.purchase_id`,
    parametersOf(workspaceId, filter),
    portion,
  );

const within = (table: string, filter: ActivityFilter): string =>
  `($2::timestamptz is null or ${table}.occurred_at >= $2)
     and ($3::timestamptz is null or ${table}.occurred_at < $3)${profileCondition(filter, 4).sql}`;

const parametersOf = (workspaceId: number, filter: ActivityFilter): unknown[] => [
  workspaceId,
  filter.since ?? null,
  filter.until ?? null,
  ...profileCondition(filter, 4).parameters,
];
