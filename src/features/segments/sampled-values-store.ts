import type { Queryable } from "../../core/database/database.ts";
import { itsRows } from "./leaf.ts";
import { CHANCE, type Portion, portionSql } from "./members-store.ts";
import { columnsOf, valuesOf } from "./sql.ts";

/* What the users of a portion have, counted by the engine. */

export type Scalar = string | number | boolean;

export interface Sampled {
  readonly seen: number;
  /** How many of them have the attribute, or did the event. */
  readonly having: number;
  readonly highestChance: string | null;
}

const SCALARS = "('string', 'number', 'boolean')";

/** Longer values are left out: no list shows them. */
const LONGEST_VALUE = 102;

const VALUES = 20;

/** How many elements of a list are looked at. */
const ELEMENTS = 50;

/** How many users have each of the most frequent values of an attribute. */
export async function selectFrequentValues(
  tx: Queryable,
  workspaceId: number,
  kind: "attribute" | "custom_attribute",
  name: string,
  portion: Portion,
): Promise<
  Sampled & { readonly values: readonly { readonly value: Scalar; readonly users: number }[] }
> {
  const { values, parameters } = startStatement();
  const column = kind === "attribute" ? "standard_attributes" : "custom_attributes";
  const rows = portionSql(portion, workspaceId, values);
  const [row] = await tx.query<Awaited<ReturnType<typeof selectFrequentValues>>>(
    `with sample as materialized (
       select profile_id, ${CHANCE} as chance, nullif(p.${column} -> ${values.bind(name, "text")}, 'null') as value
       from (${rows}) as p),
     frequent as (
       select each as value, count(distinct profile_id) as users from sample cross join lateral (
         select value as each where jsonb_typeof(value) <> 'array'
         union all (select element from jsonb_array_elements(
           case jsonb_typeof(value) when 'array' then value else '[]' end) as element limit ${ELEMENTS})) as parts
       where jsonb_typeof(each) in ${SCALARS} and length(each::text) <= ${LONGEST_VALUE}
       group by each order by count(distinct profile_id) desc, each limit ${VALUES})
     select count(*) as seen, count(value) as having, max(chance) as "highestChance",
       (select coalesce(jsonb_agg(jsonb_build_object('value', value, 'users', users) order by users desc, value), '[]')
        from frequent) as values
     from sample`,
    parameters,
  );
  return row as NonNullable<typeof row>;
}

/** A value of a property, and how often a type of values was there. */
export interface FrequentProperty {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "time" | "array" | "object" | "null";
  readonly ofType: number;
  /** Null if it is no text, number or boolean, or is long. */
  readonly value: Scalar | null;
  readonly seen: number;
}

/** How many occurrences of an event are looked at: the last of each user. Larger ones are left out. */
const OCCURRENCES = 1_000;
const LARGEST_PROPERTIES = 16_384;

/** As `where` in a filter reads a time. */
const WRITTEN_AS_TIME = String.raw`'^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{3})?Z)?$'`;

/** The most frequent values of a type, and how many rows there are at most. */
const VALUES_OF_TYPE = 5;
const ROWS = 1_000;

/** Who did an event, and which values the properties of the last occurrence of each user have. */
export async function selectFrequentProperties(
  tx: Queryable,
  workspaceId: number,
  name: string,
  portion: Portion,
): Promise<
  Sampled & { readonly occurrences: number; readonly properties: readonly FrequentProperty[] }
> {
  const { values, parameters } = startStatement();
  const event = values.bind(name, "text");
  const rows = portionSql(portion, workspaceId, values);
  const [row] = await tx.query<Awaited<ReturnType<typeof selectFrequentProperties>>>(
    `with sample as materialized (
       select workspace_id, bucket, profile_id, ${CHANCE} as chance from (${rows}) as p),
     did as materialized (
       select p.workspace_id, p.bucket, p.profile_id, s.last_at from sample as p
       join event_summaries as s on ${itsRows("s")} where s.name = ${event}),
     occurrences as materialized (
       select e.properties from did as p join events as e on ${itsRows("e")} and e.occurred_at = p.last_at
       where e.name = ${event} and coalesce(pg_column_size(e.properties), 0) <= ${LARGEST_PROPERTIES}
       limit ${OCCURRENCES}),
     counted as (
       select key as name, case when jsonb_typeof(value) = 'string' and value #>> '{}' ~ ${WRITTEN_AS_TIME}
           then 'time' else jsonb_typeof(value) end as type,
         case when jsonb_typeof(value) in ${SCALARS} and length(value::text) <= ${LONGEST_VALUE} then value end as value,
         count(*) as seen
       from occurrences cross join lateral jsonb_each(properties) group by 1, 2, 3),
     placed as (
       select *, sum(seen) over (partition by name, type) as "ofType",
         row_number() over (partition by name, type order by seen desc, value) as place from counted)
     select count(*) as seen, (select count(*) from did) as having, max(chance) as "highestChance",
       (select count(*) from occurrences) as occurrences,
       (select coalesce(jsonb_agg(to_jsonb(placed)), '[]') from (
         select name, type, "ofType", value, seen from placed where place <= ${VALUES_OF_TYPE}
         order by "ofType" desc, seen desc limit ${ROWS}) as placed) as properties
     from sample`,
    parameters,
  );
  return row as NonNullable<typeof row>;
}

function startStatement() {
  const parameters: unknown[] = [];
  return { parameters, values: valuesOf(new Date(0), parameters, columnsOf("p")) };
}
