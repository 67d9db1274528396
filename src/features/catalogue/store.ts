import { erasedBy } from "../../core/admin/retention/retention.ts";
import { DAY_MS } from "../../core/base/clock.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { OF_PROFILES, ofProfiles } from "../../core/database/buckets.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import { timestamps } from "../../core/database/parameters/typed-list.ts";
import type { CatalogueKind, DataType } from "./kinds.ts";

/** The unit of counting: a name, and for an attribute one type of its values. */
export interface CountKey {
  readonly kind: CatalogueKind;
  readonly name: string;
  /** Empty for events and products. */
  readonly dataType: DataType | "";
}

/** How often something was sent since the last time that counts were written. */
export interface CatalogueCount extends CountKey {
  readonly workspaceId: number;
  readonly seen: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** By days since the epoch. */
  readonly byDay: ReadonlyMap<number, number>;
  /** Of an event: its last occurrences. */
  readonly latest: readonly Latest[];
}

/** Who did an event, and when. */
export interface Latest {
  readonly atMs: number;
  readonly profileId: string;
}

/**
 * Adds counts to the stored ones; each name occurs once. Sorted, so that processes never wait for
 * each other in a circle.
 */
export async function addCounts(tx: Transaction, counts: readonly CatalogueCount[]): Promise<void> {
  if (counts.length === 0) return;
  const columns = [
    ...listsOf(counts, "workspaceId", "kind", "name", "dataType", "seen"),
    counts.map(({ firstMs }) => new Date(firstMs).toISOString()),
    counts.map(({ lastMs }) => new Date(lastMs).toISOString()),
  ];
  await tx.query(
    `insert into catalogue (workspace_id, kind, name, data_type, seen, first_seen, last_seen)
     select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::bigint[],
         $6::timestamptz[], $7::timestamptz[])
       as new (workspace_id, kind, name, data_type, seen, first_seen, last_seen)
     order by workspace_id, kind, name collate "C", data_type
     on conflict (workspace_id, kind, name, data_type) do update set
       seen = catalogue.seen + excluded.seen,
       first_seen = least(catalogue.first_seen, excluded.first_seen),
       last_seen = greatest(catalogue.last_seen, excluded.last_seen)`,
    columns,
  );
}

/** The same day by day, for the days from `since` on. */
export async function addDays(
  tx: Transaction,
  counts: readonly CatalogueCount[],
  since: Date,
): Promise<void> {
  const first = Math.floor(since.getTime() / DAY_MS);
  const days = counts.flatMap(({ byDay, ...count }) =>
    [...byDay].filter(([day]) => day >= first).map(([day, seen]) => ({ ...count, day, seen })),
  );
  if (days.length === 0) return;
  const columns = [
    ...listsOf(days, "workspaceId", "kind", "name"),
    days.map(({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10)),
    days.map(({ seen }) => seen),
  ];
  // The types of an attribute share its days.
  await tx.query(
    `insert into catalogue_days (workspace_id, kind, name, day, seen)
     select workspace_id, kind, name, day, sum(seen)
     from unnest($1::int[], $2::text[], $3::text[], $4::date[], $5::bigint[])
       as new (workspace_id, kind, name, day, seen)
     group by workspace_id, kind, name, day
     order by workspace_id, kind, name collate "C", day
     on conflict (workspace_id, kind, name, day) do update set seen = catalogue_days.seen + excluded.seen`,
    columns,
  );
}

const KEPT_LATEST = 20;

/** Keeps the newest occurrences of events, in the order of `addCounts`. */
export async function addLatest(tx: Transaction, counts: readonly CatalogueCount[]): Promise<void> {
  const events = counts.filter(({ latest }) => latest.length > 0);
  if (events.length === 0) return;
  const lists = events.map(({ latest }) =>
    latest.map(({ atMs, profileId }) => [new Date(atMs).toISOString(), profileId]),
  );
  await tx.query(
    `insert into latest_occurrences (workspace_id, name, latest)
     select workspace_id, name, latest
     from unnest($1::int[], $2::text[], $3::text[]::jsonb[]) as new (workspace_id, name, latest)
     order by workspace_id, name collate "C"
     on conflict (workspace_id, name) do update set latest = (
       select jsonb_agg(entry order by entry ->> 0 desc) from (
         select entry from jsonb_array_elements(latest_occurrences.latest || excluded.latest) as entry
         order by entry ->> 0 desc limit $4) as newest)`,
    [
      ...listsOf(events, "workspaceId", "name"),
      lists.map((list) => JSON.stringify(list)),
      KEPT_LATEST,
    ],
  );
}

export async function selectLatest(
  database: Queryable,
  workspaceId: number,
  name: string,
): Promise<Latest[]> {
  const [row] = await database.query<{ latest: [string, string][] }>(
    "select latest from latest_occurrences where workspace_id = $1 and name = $2",
    [workspaceId, name],
  );
  return (row?.latest ?? []).map(([time, profileId]) => ({ atMs: Date.parse(time), profileId }));
}

export interface StoredOccurrence {
  readonly id: string;
  readonly profileId: string;
  readonly time: Date;
  readonly properties: Json;
}

/** The stored occurrences of an event by these users at any of these times, the newest first; the primary key finds each. */
export const selectOccurrences = (
  database: Queryable,
  workspaceId: number,
  name: string,
  wanted: readonly Latest[],
) =>
  database.query<StoredOccurrence>(
    `select event_id as id, profile_id as "profileId", occurred_at as time, properties from events
     where ${OF_PROFILES} and occurred_at = any($4::timestamptz[]) and name = $5
     order by occurred_at desc, event_id desc limit $6`,
    [
      ...ofProfiles(workspaceId, [...new Set(wanted.map(({ profileId }) => profileId))]),
      timestamps([...new Set(wanted.map(({ atMs }) => atMs * 1_000))]),
      name,
      KEPT_LATEST,
    ],
  );

/** Removes an erased person from the latest occurrences. */
export const eraseFromLatest = erasedBy(
  `update latest_occurrences set latest = (
     select coalesce(jsonb_agg(entry order by entry ->> 0 desc), '[]')
     from jsonb_array_elements(latest) as entry where not entry ->> 1 ~* any($2::text[]))
   where workspace_id = $1 and latest::text ~* any($2::text[])`,
);

export interface CatalogueEntry {
  readonly kind: CatalogueKind;
  readonly name: string;
  readonly seen: number;
  /** Null if nothing was sent since names are counted. */
  readonly firstSeen: Date | null;
  readonly lastSeen: Date | null;
  /** For an attribute, the most frequent type first. */
  readonly types: readonly { readonly type: DataType; readonly seen: number }[];
}

export interface WantedEntries {
  readonly kind: CatalogueKind;
  /** A part of the name, in any case. */
  readonly search?: string | undefined;
  /** The name beyond which to read; from the end without one if not forward. */
  readonly beyond?: string | undefined;
  readonly isForward?: boolean;
  readonly limit: number;
  readonly offset?: number;
}

/** Entries in the order of their names, nearest to `beyond` first. */
export const selectEntries = (
  database: Queryable,
  workspaceId: number,
  { kind, search, beyond, isForward = true, limit, offset = 0 }: WantedEntries,
) =>
  database.query<CatalogueEntry>(
    `select kind, name, sum(seen)::bigint as seen, min(first_seen) as "firstSeen",
       max(last_seen) as "lastSeen",
       coalesce(jsonb_agg(jsonb_build_object('type', data_type, 'seen', seen)
         order by seen desc, data_type) filter (where data_type <> ''), '[]') as types
     from catalogue
     where workspace_id = $1 and kind = $2
       and ($3::text is null or name ${isForward ? ">" : "<"} $3)
       and ($4::text is null or position(lower($4) in lower(name)) > 0)
     group by kind, name order by name ${isForward ? "asc" : "desc"} limit $5 offset $6`,
    [workspaceId, kind, beyond ?? null, search ?? null, limit, offset],
  );

/** How often names were sent, day by day, from a day on. */
export const selectDays = (
  database: Queryable,
  workspaceId: number,
  kind: CatalogueKind,
  names: readonly string[],
  since: Date,
): Promise<{ name: string; day: string; seen: number }[]> =>
  database.query(
    `select name, to_char(day, 'YYYY-MM-DD') as day, seen from catalogue_days
     where workspace_id = $1 and kind = $2 and name = any($3::text[]) and day >= $4::date
     order by name, day`,
    [workspaceId, kind, names, since.toISOString().slice(0, 10)],
  );

export const deleteOldDays = (database: Queryable, before: Date) =>
  database.execute("delete from catalogue_days where day < $1::date", [
    before.toISOString().slice(0, 10),
  ]);

/** Adds names in use whose counts were lost in a crash. */
export const insertMissingNames = (database: Queryable) =>
  database.query(
    `insert into catalogue (workspace_id, kind, name, data_type, seen)
     select workspace_id, kind, name, '', 0 from used_names u where not exists (
       select 1 from catalogue c
       where c.workspace_id = u.workspace_id and c.kind = u.kind and c.name = u.name)
     on conflict do nothing`,
  );

export async function deleteCatalogue(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from catalogue where workspace_id = $1", [workspaceId]);
  await tx.query("delete from catalogue_days where workspace_id = $1", [workspaceId]);
  await tx.query("delete from latest_occurrences where workspace_id = $1", [workspaceId]);
}
