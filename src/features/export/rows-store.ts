import type { EmailState } from "../../core/base/values/email-states.ts";
import { readByCursor } from "../../core/database/cursor.ts";
import type { Queryable } from "../../core/database/database.ts";
import { NAME_COLUMNS, profileCondition } from "../../core/people/profiles/export-store.ts";
import type { ProfileNames } from "../../core/people/profiles/identifiers.ts";
import type { EventDetails, PurchaseDetails } from "../../core/people/profiles/written.ts";
import type { GroupState } from "../../core/people/subscriptions/store.ts";
import type { ExportFilter } from "./export-filter.ts";

/* All rows of a kind of a workspace, in portions. */

export type SelectRows<Row> = (
  tx: Queryable,
  workspaceId: number,
  filter: ExportFilter,
  portion: number,
) => AsyncGenerator<Row[]>;

const within = (time: string): string =>
  `($2::timestamptz is null or ${time} >= $2) and ($3::timestamptz is null or ${time} < $3)`;

/** The rows `r` of a table in the range of a time, with the names of their users: by user, then by the other columns. */
const ofUsers =
  <Row>(table: string, columns: string, time: string, order: string): SelectRows<Row> =>
  (tx, workspaceId, { since = null, until = null, ...filter }, portion) => {
    const { sql, parameters } = profileCondition(filter, 4);
    return readByCursor(
      tx,
      `exported_${table}`,
      `select ${columns}, ${NAME_COLUMNS}
       from ${table} r join profiles p using (workspace_id, bucket, profile_id)
       where workspace_id = $1 and ${within(time)}${sql}
       order by r.profile_id, ${order}`,
      [workspaceId, since, until, ...parameters],
      portion,
    );
  };

export type ExportedEvent = EventDetails & ProfileNames;

export const selectAllEvents = ofUsers<ExportedEvent>(
  "events",
  `r.name, r.occurred_at as time, r.app_id as "appId", r.properties`,
  "r.occurred_at",
  "r.bucket, r.occurred_at, r.event_id",
);

export type ExportedPurchase = Omit<PurchaseDetails, "price"> &
  ProfileNames & {
    /** An exact decimal. */
    readonly price: string;
  };

export const selectAllPurchases = ofUsers<ExportedPurchase>(
  "purchases",
  `r.product_id as "productId", r.currency, r.price, r.quantity, r.occurred_at as time,
   r.app_id as "appId", r.properties`,
  "r.occurred_at",
  "r.bucket, r.occurred_at, r.purchase_id",
);

export type ExportedGroupState = ProfileNames & {
  readonly groupId: string;
  readonly state: GroupState;
  readonly changedAt: Date;
};

export const selectAllGroupStates = ofUsers<ExportedGroupState>(
  "group_states",
  `r.group_id as "groupId", r.state, r.changed_at as "changedAt"`,
  "r.changed_at",
  "r.group_id",
);

export interface ExportedEmailState {
  readonly email: string;
  readonly state: EmailState;
  readonly setAt: Date;
}

/** States belong to addresses, whether a user has them or not. */
export const selectAllEmailStates: SelectRows<ExportedEmailState> = (
  tx,
  workspaceId,
  { since = null, until = null },
  portion,
) =>
  readByCursor(
    tx,
    "exported_emails",
    `select coalesce(spelling, email) as email, state, set_at as "setAt" from email_states
     where workspace_id = $1 and ${within("set_at")}
     order by email_states.email`,
    [workspaceId, since, until],
    portion,
  );
