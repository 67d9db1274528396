import type { Json } from "../../base/values/plain-json.ts";
import { bucketsOfValues } from "../../database/buckets.ts";
import type { Queryable } from "../../database/database.ts";
import type { EmailState } from "../subscriptions/states.ts";
import type { OpenQuestion } from "./leaf.ts";
import { type Bounds, type Values, valuesOf } from "./sql.ts";

/*
 * Reads which users of a workspace meet a filter. A statement looks at a portion of the users: a
 * random sample, the next ones in the order of their ids, or one.
 */

/** Which users a statement looks at. */
export type Portion =
  | { readonly kind: "sample"; readonly size: number }
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
      return `select * from profiles where ${ours} and ${IS_DRAWN} order by ${CHANCE} limit ${values.bind(portion.size, "int")}`;
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

/** Counts the users of a portion, and those who surely meet each of some filters. */
export async function countPortion(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  filters: readonly ((values: Values) => Bounds)[],
  now: Date,
): Promise<PortionCount> {
  const parameters: unknown[] = [];
  const values = valuesOf(now, parameters);
  const rows = portionSql(portion, workspaceId, values);
  const sure = filters.map((boundsOf) => `count(*) filter (where ${boundsOf(values).must})`);
  // Of each user at most one text: making and comparing them takes longer than many conditions.
  const ends =
    portion.kind === "sample"
      ? `null as "lastId", max(${CHANCE}) as "highestChance"`
      : `max(profile_id::text collate "C") as "lastId", null as "highestChance"`;
  const [row] = await tx.query<PortionCount>(
    `select count(*) as seen, to_jsonb(array[${sure}]::bigint[]) as sure, ${ends}
     from (${rows}) as p`,
    parameters,
  );
  return row as PortionCount;
}

/** A user who may meet a filter. */
export interface Candidate {
  readonly id: string;
  /** Whether the user surely meets it. */
  readonly isSure: boolean;
  readonly email: string | null;
  /** What each condition that SQL may leave open reads, and its bounds. */
  readonly open: readonly {
    readonly value: Json | null;
    readonly must: boolean;
    readonly may: boolean;
  }[];
  /** For every other condition whether it holds. */
  readonly decided: readonly boolean[];
}

export interface Conditions {
  boundsOf(values: Values): Bounds;
  readonly open: readonly { sql(values: Values): Bounds; readonly question: OpenQuestion }[];
  readonly decided: readonly ((values: Values) => Bounds)[];
}

/** The users of a portion who may meet a filter, in the order of their ids, with what decides about them. */
export async function selectCandidates(
  tx: Queryable,
  workspaceId: number,
  portion: Portion,
  { boundsOf, open, decided }: Conditions,
  now: Date,
  onlyOpen: boolean,
): Promise<Candidate[]> {
  const parameters: unknown[] = [];
  const values = valuesOf(now, parameters);
  const rows = portionSql(portion, workspaceId, values);
  const { must, may } = boundsOf(values);
  const questions = open.map(({ sql, question }) => {
    const bounds = sql(values);
    // The value only where the program has to look at it: an attribute may take a megabyte, and there are 50 conditions.
    const value = `case when ${bounds.must} <> ${bounds.may} then ${question.json(values)} end`;
    return `jsonb_build_object('value', ${value}, 'must', ${bounds.must}, 'may', ${bounds.may})`;
  });
  const truths = decided.map((sqlOf) => sqlOf(values).must);
  return tx.query<Candidate>(
    `select p.profile_id as id, ${must} as "isSure", p.email, to_jsonb(array[${questions}]::jsonb[]) as open,
       to_jsonb(array[${truths}]::boolean[]) as decided
     from (${rows}) as p
     where ${may}${onlyOpen ? ` and not ${must}` : ""} order by p.profile_id`,
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
  const values = valuesOf(new Date(0), parameters);
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
