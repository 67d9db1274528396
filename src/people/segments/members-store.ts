import type { Json } from "../../base/values/plain-json.ts";
import { bucketsOfValues } from "../../database/buckets.ts";
import { NOT_PREPARED, type Queryable } from "../../database/database.ts";
import type { EmailState } from "../subscriptions/states.ts";
import { type Filter, type FilterText, filterSql } from "./filter.ts";
import type { Leaf } from "./leaf.ts";
import { type Bounds, columnsOf, type Values, valuesOf } from "./sql.ts";

/*
 * Reads which users of a workspace meet a filter. A statement looks at a portion of the users: the
 * next ones of a random sample or in the order of their ids, or one.
 */

/** Which users a statement looks at. */
export type Portion =
  | { readonly kind: "sample"; readonly size: number; readonly after?: string }
  | { readonly kind: "next"; readonly after: string; readonly size: number }
  | { readonly kind: "one"; readonly id: string };

/** The users before all others. */
export const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/** The part of an id that chance drew, as an index has it (migrations, `profiles_by_chance`). */
const CHANCE = `(right(profile_id::text, 8) collate "C")`;

/** Who can be in a sample: the index has no others. */
const IS_DRAWN = `${CHANCE} < '40000000'`;

/** The share of all users who can be in a sample. */
export const DRAWN_SHARE = 1 / 4;

function portionSql(portion: Portion, workspaceId: number, values: Values): string {
  const ours = `workspace_id = ${values.bind(workspaceId, "int")}`;
  switch (portion.kind) {
    case "sample":
      return `select * from profiles where ${ours} and ${IS_DRAWN} and ${CHANCE} > ${values.bind(portion.after ?? "", "text")}
        order by ${CHANCE} limit ${values.bind(portion.size, "int")}`;
    case "next":
      return `select * from profiles where ${ours} and profile_id > ${values.bind(portion.after, "uuid")}
        order by profile_id limit ${values.bind(portion.size, "int")}`;
    case "one":
      return `select * from profiles where ${ours} and profile_id = ${values.bind(portion.id, "uuid")}`;
  }
}

/** How many users can be in a sample, up to a number. */
export async function countDrawn(
  tx: Queryable,
  workspaceId: number,
  most: number,
): Promise<number> {
  const [row] = await tx.query<{ drawn: number }>(
    `select count(*)::int as drawn from (
       select from profiles where workspace_id = $1 and ${IS_DRAWN} limit $2::int) as found`,
    [workspaceId, most],
  );
  return row?.drawn ?? 0;
}

export interface PortionCount {
  /** How many users the statement looked at. */
  readonly seen: number;
  /** For each filter, how many of them surely meet it. */
  readonly sure: readonly number[];
  /** The last id in their order; null in a sample, or if there was none. */
  readonly lastId: string | null;
  /** In a sample the highest of their parts that chance drew, 8 hexadecimal digits. */
  readonly highestChance: string | null;
}

/** A statement about the users of a portion, while it is written. */
interface Writing {
  readonly parameters: readonly unknown[];
  readonly values: Values;
  /** How filters are written in it. */
  readonly text: FilterText;
  /** The users with all columns that were used so far. */
  from(): string;
}

/** A longer text than the name of a column, and than a few of them. */
const LONG = 100;

/**
 * @param isOnce whether a condition is decided for each user, for the statement names it several times. The others are decided
 *   where SQL comes to them: a look-up is saved for users whom other conditions decide.
 */
function writing(
  portion: Portion,
  workspaceId: number,
  now: Date,
  isOnce: (bounds: Bounds) => boolean,
): Writing {
  const parameters: unknown[] = [];
  const columns = columnsOf("p");
  const values = valuesOf(now, parameters, columns);
  const rows = portionSql(portion, workspaceId, values);
  const known = new Map<Leaf, Bounds>();
  const short = (sql: string) => (sql.length > LONG ? columns.once(sql) : sql);
  const shared = (bounds: Bounds): Bounds => ({
    ...bounds,
    must: short(bounds.must),
    may: short(bounds.may),
  });
  const text: FilterText = {
    leaf(leaf) {
      let bounds = known.get(leaf);
      if (!bounds) {
        bounds = leaf.sql(values);
        if (isOnce(bounds)) bounds = shared(bounds);
        known.set(leaf, bounds);
      }
      return bounds;
    },
    group: (bounds) => (isOnce(bounds) ? shared(bounds) : bounds),
  };
  return { parameters, values, text, from: () => columns.around(rows) };
}

/**
 * Counts the users of a portion, and those who surely meet each of some filters.
 *
 * @throws StatementTooLarge
 */
export async function countPortion(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filters: readonly Filter[],
  now: Date,
): Promise<PortionCount> {
  const { parameters, text, from } = writing(portion, workspaceId, now, () => filters.length > 1);
  const sure = filters.map((filter) => `count(*) filter (where ${filterSql(filter, text).must})`);
  // Of each user at most one text: making and comparing them takes longer than many conditions.
  const ends =
    portion.kind === "sample"
      ? `null as "lastId", max(${CHANCE}) as "highestChance"`
      : `max(profile_id::text collate "C") as "lastId", null as "highestChance"`;
  const [row] = await tx.query<PortionCount>(
    `${NOT_PREPARED}select count(*) as seen, to_jsonb(array[${sure}]::bigint[]) as sure, ${ends} from ${from()}`,
    parameters,
  );
  return row as PortionCount;
}

/** What is known about a user who may meet a filter. */
export interface Candidate {
  readonly id: string;
  readonly email: string | null;
  /** For each condition whether it surely holds (2), possibly (1) or not (0). */
  readonly truths: readonly number[];
  /** For each condition what decides about it, where SQL left it open. */
  readonly values: readonly (Json | null)[];
  /** For each filter whether the user surely meets it, if only undecided users are wanted. */
  readonly sure: readonly boolean[];
}

/** Up to so many conditions that SQL decides are looked up only for users whom they decide: the text has each four times. */
const FEW_LOOKUPS = 5;

/**
 * The users of a portion in the order of their ids, with what decides about them.
 *
 * @param which all of them, those who may meet the filter, or those of whom SQL leaves open whether they meet one of the filters.
 * @param leaves the conditions of the filters.
 * @throws StatementTooLarge
 */
export async function selectCandidates(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  which: "all" | "possible" | "open",
  filters: readonly Filter[],
  leaves: readonly Leaf[],
  now: Date,
): Promise<Candidate[]> {
  const isLazy =
    which !== "all" &&
    filters.length === 1 &&
    leaves.filter(({ open }) => !open).length <= FEW_LOOKUPS;
  const isOnce = ({ lookups = 0 }: Bounds) => !isLazy || lookups === 0;
  const { parameters, values, text, from } = writing(portion, workspaceId, now, isOnce);
  const bounds = which === "all" ? [] : filters.map((filter) => filterSql(filter, text));
  const wanted = bounds.map(({ must, may }) => (which === "open" ? `(${may} and not ${must})` : may));
  const truths = leaves.map((leaf) => {
    const { must, may } = text.leaf(leaf);
    return must === may ? `2 * ${must}::int` : `${must}::int + ${may}::int`;
  });
  // The value only where the program has to look at it: an attribute may take a megabyte, and there are 50 conditions.
  const given = leaves.map((leaf) => {
    const { must, may } = text.leaf(leaf);
    return leaf.open ? `case when ${must} <> ${may} then ${leaf.open.json(values)} end` : "null";
  });
  const sure = which === "open" ? bounds.map(({ must }) => must) : [];
  return tx.query<Candidate>(
    `${NOT_PREPARED}select p.profile_id as id, p.email, to_jsonb(array[${truths}]::int[]) as truths,
       to_jsonb(array[${given}]::jsonb[]) as values, to_jsonb(array[${sure}]::boolean[]) as sure
     from ${from()} where ${wanted.join(" or ") || "true"} order by p.profile_id`,
    parameters,
  );
}

/** The most frequent texts, numbers and booleans of an attribute among the users of a portion; long texts are left out. */
export async function selectFrequentValues(
  tx: Queryable,
  workspaceId: number,
  kind: "attribute" | "custom_attribute",
  name: string,
  portion: Portion,
  most: number,
): Promise<(string | number | boolean)[]> {
  const parameters: unknown[] = [];
  const values = valuesOf(new Date(0), parameters, columnsOf("p"));
  const sample = portionSql(portion, workspaceId, values);
  const column = kind === "attribute" ? "standard_attributes" : "custom_attributes";
  const rows = await tx.query<{ value: string | number | boolean }>(
    `select value from (select p.${column} -> ${values.bind(name, "text")} as value from (${sample}) as p) as found
     where jsonb_typeof(value) in ('string', 'number', 'boolean') and length(value::text) <= 102
     group by value order by count(*) desc, value limit ${values.bind(most, "int")}`,
    parameters,
  );
  return rows.map(({ value }) => value);
}

/** The data about addresses: states, and bounces. */
export async function selectAddresses(
  tx: Queryable,
  workspaceId: number,
  emails: readonly string[],
): Promise<{ email: string; state: EmailState | null; hasBounced: boolean }[]> {
  if (emails.length === 0) return [];
  const parameters = [workspaceId, emails, bucketsOfValues(workspaceId, emails).all];
  const theirs =
    "where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])";
  return tx.query(
    `select email, max(state) as state, bool_or(bounced) as "hasBounced" from (
       select email, state, false as bounced from email_states ${theirs}
       union all
       select email, null as state, true as bounced from hard_bounces ${theirs}) as addresses
     group by email`,
    parameters,
  );
}
