import type { Workspace } from "../../core/base/context/workspace.ts";
import type { Queryable } from "../../core/database/database.ts";
import { selectProfileIds } from "../../core/people/profiles/export-store.ts";
import { identifierOf } from "../../core/people/profiles/identifiers.ts";
import type { ExportFilter } from "./export-filter.ts";
import { DEFAULT_FIELDS, type ExportField } from "./profile-view.ts";
import {
  type ExportedEmailState,
  type ExportedEvent,
  type ExportedGroupState,
  type ExportedPurchase,
  type SelectRows,
  selectAllEmailStates,
  selectAllEvents,
  selectAllGroupStates,
  selectAllPurchases,
} from "./rows-store.ts";
import { viewInPortions } from "./view-in-portions.ts";

/*
 * The rows of an export, in portions, in the form that the import accepts. Their order depends only
 * on their content, so that two exports of the same content are identical byte for byte.
 */

export const EXPORTED_KINDS = ["users", "events", "purchases", "subscriptions"] as const;

export type ExportedKind = (typeof EXPORTED_KINDS)[number];

export interface RowSource {
  readonly tx: Queryable;
  readonly workspace: Workspace;
  readonly filter: ExportFilter;
  readonly now: Date;
}

type Portions = AsyncGenerator<readonly object[]>;

export const ROWS_OF: Readonly<Record<ExportedKind, (source: RowSource) => Portions>> = {
  users,
  events: (source) => viewed(source, selectAllEvents, eventRow),
  purchases: (source) => viewed(source, selectAllPurchases, purchaseRow),
  subscriptions,
};

const USER_FIELDS: readonly ExportField[] = [...DEFAULT_FIELDS, "merged_ids", "message_history"];

const USERS_AT_A_TIME = 200;

/** Ordered by id. */
async function* users({ tx, workspace, filter, now }: RowSource): Portions {
  for await (const found of selectProfileIds(tx, workspace.id, filter, 10 * USERS_AT_A_TIME)) {
    for (let first = 0; first < found.length; first += USERS_AT_A_TIME) {
      const ids = found.slice(first, first + USERS_AT_A_TIME).map(({ id }) => id);
      for await (const portion of viewInPortions(tx, workspace, ids, USER_FIELDS, now)) {
        yield portion.users;
      }
    }
  }
}

/** Properties of one event may take 50 KB. */
const ROWS_AT_A_TIME = 500;

async function* viewed<Row>(
  { tx, workspace, filter }: RowSource,
  select: SelectRows<Row>,
  view: (row: Row) => object,
): Portions {
  for await (const rows of select(tx, workspace.id, filter, ROWS_AT_A_TIME)) yield rows.map(view);
}

const eventRow = (event: ExportedEvent): object => ({
  ...identifierOf(event),
  name: event.name,
  ...occurrence(event),
});

const purchaseRow = (purchase: ExportedPurchase): object => ({
  ...identifierOf(purchase),
  product_id: purchase.productId,
  currency: purchase.currency,
  price: Number(purchase.price),
  quantity: purchase.quantity,
  ...occurrence(purchase),
});

const occurrence = ({
  time,
  appId,
  properties,
}: Pick<ExportedEvent, "time" | "appId" | "properties">) => ({
  time: time.toISOString(),
  ...(appId !== null && { app_id: appId }),
  ...(properties !== null && { properties }),
});

async function* subscriptions(source: RowSource): Portions {
  yield* viewed(source, selectAllGroupStates, groupRow);
  // The state of an address is not a user's, so no attribute selects it.
  const { standardAttributes, customAttributes } = source.filter;
  if (Object.keys({ ...standardAttributes, ...customAttributes }).length > 0) return;
  yield* viewed(source, selectAllEmailStates, emailRow);
}

const groupRow = (row: ExportedGroupState): object => ({
  ...identifierOf(row),
  subscription_group_id: row.groupId,
  subscription_state: row.state,
  changed_at: row.changedAt.toISOString(),
});

const emailRow = ({ email, state, setAt }: ExportedEmailState): object => ({
  email,
  subscription_state: state,
  changed_at: setAt.toISOString(),
});
