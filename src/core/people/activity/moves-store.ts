import { bucketOfId, bucketsOfIds } from "../../database/buckets.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import { uuids } from "../../database/parameters/typed-list.ts";
import type { Moves } from "./activity.ts";

/*
 * Copies the rows of merged profiles to the profiles that are kept; the originals are deleted
 * afterwards. A row moves to another bucket, so to another node of a cluster. A single statement
 * would be pulled to the coordinator there; a reading and a writing statement each name their
 * buckets. The profiles are locked, so nothing is added in between.
 */

/** A table whose rows move unchanged. */
export interface MovedTable {
  readonly name: string;
  /** The columns that order a profile's rows: column, type, and a value before all others. */
  readonly key: readonly (readonly [column: string, type: string, first: string])[];
  /** The one column that can be large. */
  readonly payload: string;
  /** In addition to workspace, bucket and profile. */
  readonly columns: Readonly<Record<string, string>>;
  readonly onConflict?: string;
  /** Gets rows of a profile that were not inserted because of a conflict. */
  readonly onDropped?: OnConflict;
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

const OCCURRENCE = { occurred_at: "timestamptz", app_id: "text", properties: "jsonb" } as const;

const TABLES: readonly MovedTable[] = [
  {
    name: "events",
    key: [
      ["occurred_at", "timestamptz", "-infinity"],
      ["event_id", "uuid", FIRST_ID],
    ],
    payload: "properties",
    columns: { event_id: "uuid", name: "text", ...OCCURRENCE },
  },
  {
    name: "purchases",
    key: [
      ["occurred_at", "timestamptz", "-infinity"],
      ["purchase_id", "uuid", FIRST_ID],
    ],
    payload: "properties",
    columns: {
      purchase_id: "uuid",
      product_id: "text",
      currency: "text",
      price: "numeric",
      quantity: "integer",
      ...OCCURRENCE,
    },
  },
];

const MESSAGES: MovedTable = {
  name: "message_history",
  key: [["message_id", "text", ""]],
  payload: "details",
  columns: { message_id: "text", channel: "text", sent_at: "timestamptz", details: "jsonb" },
  // A message that both profiles have stays as it is.
  onConflict: "on conflict (workspace_id, profile_id, bucket, message_id) do nothing",
};

/** A test compares these columns with the columns of the tables. */
export const MOVED_TABLES: readonly MovedTable[] = [...TABLES, MESSAGES];

/** How many rows are read at a time, for each table. */
const PAGE_ROWS = 2_000;

/** A profile with more rows is read by itself: a page of several profiles looks at all their rows. */
export const MANY_ROWS = 200;

/** A page has rows up to this size, so 4 MB at most; a larger row is read and written by itself. */
const LARGEST_PAYLOAD_BYTES = 2_048;

/** A row as JSON, which is not parsed here: so numbers and times stay exact. */
interface MovedRow {
  /** Null if the row is large. */
  readonly row: string | null;
  /** The place of its profile among the moves. */
  readonly place: number;
  readonly key: string[];
}

type WriteLast = () => Promise<void>;

/** Gets the messages of a merged profile that the kept one has too, as JSON; they are deleted afterwards. */
export type OnConflict = (
  tx: Transaction,
  fromId: string,
  rows: readonly string[],
) => Promise<void>;

/**
 * Copies all pages but the last of each table.
 *
 * @param moves the profiles whose events and purchases move.
 * @param messageMoves the profiles whose messages move.
 * @param large those that may have more than `MANY_ROWS` rows in a table.
 * @param onConflict without it such messages are not looked for.
 * @returns writes the last pages, together with statements that are sent after them.
 */
export async function copyMoved(
  tx: Transaction,
  workspaceId: number,
  moves: Moves,
  messageMoves: Moves,
  large: ReadonlySet<string>,
  onConflict?: OnConflict,
): Promise<WriteLast> {
  const messages = onConflict ? { ...MESSAGES, onDropped: onConflict } : MESSAGES;
  const last = await settleAll([
    ...TABLES.map((table) => copyGroups(tx, workspaceId, table, groupsOf(moves, large))),
    copyGroups(tx, workspaceId, messages, groupsOf(messageMoves, large)),
  ]);
  return async () => {
    await settleAll(last.map((write) => write()));
  };
}

/** In their order, large profiles each by itself. */
function groupsOf({ from, to }: Moves, large: ReadonlySet<string>): Moves[] {
  const groups: { from: string[]; to: string[] }[] = [];
  for (const [index, id] of from.entries()) {
    const last = groups.at(-1);
    const group =
      last && !large.has(id) && !large.has(last.from[0] as string) ? last : { from: [], to: [] };
    if (group !== last) groups.push(group);
    group.from.push(id);
    group.to.push(to[index] as string);
  }
  return groups;
}

/**
 * Moves the rows of a profile where they are, without reading them: not on a cluster, where a row of another bucket may be on
 * another node.
 */
export async function moveInPlace(
  tx: Transaction,
  workspaceId: number,
  fromId: string,
  toId: string,
): Promise<void> {
  for (const table of TABLES) {
    await inSlices(tx, workspaceId, table, fromId, ({ sql, parameters }) => {
      const next = parameters.length + 1;
      return tx.query(
        `update ${table.name} set profile_id = $${next}::uuid, bucket = $${next + 1}::smallint,
           origin_id = coalesce(origin_id, profile_id) where ${sql}`,
        [...parameters, toId, bucketOfId(toId)],
      );
    });
  }
}

/** How many rows of a user one statement writes. The embedded engine takes a tenth of a second to delete them. */
export const SLICE_ROWS = 20_000;

/**
 * Goes through the rows of a profile in the order of their key.
 *
 * @param work writes those that meet a condition.
 * @param origins only rows that came with these merged profiles.
 */
export async function inSlices(
  tx: Transaction,
  workspaceId: number,
  { name, key }: MovedTable,
  profileId: string,
  work: (slice: {
    readonly sql: string;
    readonly parameters: readonly unknown[];
  }) => Promise<unknown>,
  origins?: readonly string[],
): Promise<void> {
  const columns = key.map(([column]) => column).join(", ");
  const valuesFrom = (first: number) =>
    key.map(([, type], index) => `$${first + index}::text::${type}`).join(", ");
  const own = [workspaceId, profileId, bucketOfId(profileId), ...(origins ? [uuids(origins)] : [])];
  const next = own.length + 1;
  // Rows that were written before stay in the index until the transaction ends: each slice starts after them.
  const rest = `workspace_id = $1 and profile_id = $2::uuid and bucket = $3::smallint
    ${origins ? "and origin_id = any($4::uuid[])" : ""} and (${columns}) > (${valuesFrom(next)})`;
  let after: readonly string[] = key.map(([, , first]) => first);
  for (;;) {
    const parameters = [...own, ...after];
    const [last] = await tx.query<{ key: string[] }>(
      `select jsonb_build_array(${key.map(([column]) => `${column}::text`).join(", ")}) as key from ${name}
       where ${rest} order by ${columns} offset ${SLICE_ROWS - 1} limit 1`,
      parameters,
    );
    if (!last) return work({ sql: rest, parameters }).then(() => {});
    const sql = `${rest} and (${columns}) <= (${valuesFrom(next + key.length)})`;
    await work({ sql, parameters: [...parameters, ...last.key] });
    after = last.key;
  }
}

async function copyGroups(
  tx: Transaction,
  workspaceId: number,
  table: MovedTable,
  groups: readonly Moves[],
): Promise<WriteLast> {
  let writeLast: WriteLast = async () => {};
  for (const group of groups) {
    await writeLast();
    writeLast = await copyPages(tx, workspaceId, table, group);
  }
  return writeLast;
}

async function copyPages(
  tx: Transaction,
  workspaceId: number,
  table: MovedTable,
  moves: Moves,
): Promise<WriteLast> {
  let after: Pick<MovedRow, "place" | "key"> = { place: -1, key: table.key.map(([, , at]) => at) };
  for (;;) {
    const rows = await selectPage(tx, workspaceId, table, moves, after);
    const end = rows.at(-1);
    const isLast = !end || rows.length < PAGE_ROWS;
    // A large row has to be read before a later statement deletes it.
    if (isLast && rows.every(({ row }) => row !== null)) {
      return () => insertRows(tx, workspaceId, table, moves, rows);
    }
    await insertPage(tx, workspaceId, table, moves, rows);
    if (isLast) return async () => {};
    after = end;
  }
}

/** Inserts rows in the order of the moves, so that the first of two conflicting rows stays. */
async function insertPage(
  tx: Transaction,
  workspaceId: number,
  table: MovedTable,
  moves: Moves,
  rows: readonly MovedRow[],
): Promise<void> {
  let small: MovedRow[] = [];
  for (const each of rows) {
    if (each.row !== null) {
      small.push(each);
      continue;
    }
    await insertRows(tx, workspaceId, table, moves, small);
    small = [];
    const [large] = await selectLarge(tx, workspaceId, table, moves, each);
    if (large) await insertRows(tx, workspaceId, table, moves, [{ ...each, row: large.row }]);
  }
  await insertRows(tx, workspaceId, table, moves, small);
}

function selectLarge(
  tx: Transaction,
  workspaceId: number,
  { name, key }: MovedTable,
  { from }: Moves,
  { place, key: values }: MovedRow,
) {
  const profileId = from[place] as string;
  const isKey = key.map(([column, type], index) => `${column} = $${index + 4}::text::${type}`);
  return tx.query<Pick<MovedRow, "row">>(
    `select to_jsonb(t)::text as row from ${name} t
     where workspace_id = $1 and profile_id = $2 and bucket = $3 and ${isKey.join(" and ")}`,
    [workspaceId, profileId, bucketOfId(profileId), ...values],
  );
}

function selectPage(
  tx: Transaction,
  workspaceId: number,
  { name, key, payload }: MovedTable,
  { from }: Moves,
  after: Pick<MovedRow, "place" | "key">,
) {
  const columns = key.map(([column]) => `t.${column}`);
  const [first] = from;
  const isOne = first !== undefined && from.length === 1;
  const own: readonly unknown[] = isOne
    ? [first, bucketOfId(first)]
    : [uuids(from), bucketsOfIds(from).all, from.map((_, place) => place), after.place];
  const values = key.map(([, type], index) => `$${own.length + 2 + index}::text::${type}`);
  // Rows of one profile have the order of the index. `= any` beside the join makes every engine find the rows by key,
  // with any statistics.
  const rows = isOne
    ? `0 as place from ${name} t where t.profile_id = $2::uuid and t.bucket = $3::smallint
         and (${columns.join(", ")}) > (${values.join(", ")})`
    : `move.place from ${name} t join unnest($2::uuid[], $4::int[]) as move (merged, place)
         on t.profile_id = move.merged
       where t.profile_id = any($2::uuid[]) and t.bucket = any($3::smallint[])
         and (move.place, ${columns.join(", ")}) > ($5::int, ${values.join(", ")})`;
  return tx.query<MovedRow>(
    `select case when t.${payload} is null or octet_length(t.${payload}::text) <= ${LARGEST_PAYLOAD_BYTES}
         then to_jsonb(t)::text end as row,
       jsonb_build_array(${columns.map((column) => `${column}::text`).join(", ")}) as key, ${rows}
       and t.workspace_id = $1
     order by place, ${columns.join(", ")} limit ${PAGE_ROWS}`,
    [workspaceId, ...own, ...after.key],
  );
}

async function insertRows(
  tx: Transaction,
  workspaceId: number,
  { name, columns, onConflict = "", onDropped }: MovedTable,
  { from, to }: Moves,
  rows: readonly MovedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const places = [...new Set(rows.map(({ place }) => place))];
  const targets = places.map((place) => to[place] as string);
  const buckets = bucketsOfIds(targets);
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  const inserted = await tx.query<{ profileId: string; messageId: string }>(
    `insert into ${name} (workspace_id, bucket, profile_id, origin_id, ${names.join(", ")})
     select $1, bucket, move.kept, coalesce(t.origin_id, t.profile_id),
       ${names.map((column) => `t.${column}`).join(", ")}
     from buckets join unnest($2::uuid[], $3::uuid[], $4::int[], $5::smallint[])
         as move (merged, kept, place, bucket) using (bucket)
       join jsonb_to_recordset($6::text::jsonb) as t (profile_id uuid, origin_id uuid, ${typed.join(", ")})
         on t.profile_id = move.merged
     where bucket = any($7::smallint[])
     order by move.place ${onConflict}
     ${onDropped ? 'returning profile_id as "profileId", message_id as "messageId"' : ""}`,
    [
      workspaceId,
      uuids(places.map((place) => from[place] as string)),
      uuids(targets),
      places,
      buckets.each,
      `[${rows.map(({ row }) => row).join()}]`,
      buckets.all,
    ],
  );
  if (!onDropped || inserted.length === rows.length) return;
  const isFree = new Set(inserted.map(({ profileId, messageId }) => `${profileId} ${messageId}`));
  const dropped = new Map<string, string[]>();
  for (const { row, place, key } of rows) {
    // Of several rows with one key the first was inserted.
    if (isFree.delete(`${to[place]} ${key[0]}`)) continue;
    const fromId = from[place] as string;
    const others = dropped.get(fromId);
    if (others) others.push(row as string);
    else dropped.set(fromId, [row as string]);
  }
  for (const [fromId, each] of dropped) await onDropped(tx, fromId, each);
}
