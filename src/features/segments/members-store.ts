import type { EmailState } from "../../core/base/values/email-states.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { bucketsOfIds, bucketsOfValues } from "../../core/database/buckets.ts";
import { NOT_PREPARED, type Queryable } from "../../core/database/database.ts";
import { type Filter, filterSql } from "./filter.ts";
import { itsRows, type Leaf } from "./leaf.ts";
import { type Bounds, columnsOf, decided, type Values, valuesOf } from "./sql.ts";

/*
 * Reads which users of a workspace meet a filter. A statement looks at a portion of the users: the
 * next ones of a random sample or in the order of their ids, the first of some in that order, or one.
 */

export type Portion = (
  | { readonly kind: "sample"; readonly size: number; readonly after?: string }
  | { readonly kind: "next"; readonly after: string; readonly size: number }
  | { readonly kind: "these"; readonly ids: readonly string[]; readonly size: number }
  | { readonly kind: "one"; readonly id: string }
) & {
  /** About how many conditions one statement may decide, if the only user has many rows (`readFitting`). */
  readonly conditionsAtOnce?: number;
  /** Whether a cluster reads it: conditions on other tables are then decided before the portion is cut to its size. */
  readonly isCluster?: boolean;
};

/** A portion of the users of a workspace at a time, which statements look at. */
export interface Look {
  readonly tx: Queryable;
  readonly workspaceId: number;
  readonly portion: Portion;
  readonly now: Date;
}

/** How many users a portion has, unless no more are left. */
export const sizeOf = (portion: Portion): number => (portion.kind === "one" ? 1 : portion.size);

/** The users before all others. */
export const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/** The part of an id that chance drew, as an index has it (migrations, `profiles_by_chance`). */
export const CHANCE = `(right(profile_id::text, 8) collate "C")`;

/** Who can be in a sample: the index has no others. */
const IS_DRAWN = `${CHANCE} < '40000000'`;

/** The share of all users who can be in a sample. */
export const DRAWN_SHARE = 1 / 4;

export function portionSql(portion: Portion, workspaceId: number, values: Values): string {
  const { rows, end } = partsOf(portion, workspaceId, values);
  return rows + end;
}

/** @returns the users that come into question, and the order and the number that make them a portion. */
function partsOf(portion: Portion, workspaceId: number, values: Values) {
  const all = `select * from profiles where workspace_id = ${values.bind(workspaceId, "int")}`;
  const first = (order: string, size: number) =>
    ` order by ${order} limit ${values.bind(size, "int")}`;
  switch (portion.kind) {
    case "sample":
      return {
        rows: `${all} and ${IS_DRAWN} and ${CHANCE} > ${values.bind(portion.after ?? "", "text")}`,
        end: first(CHANCE, portion.size),
      };
    case "next":
      return {
        rows: `${all} and profile_id > ${values.bind(portion.after, "uuid")}`,
        end: first("profile_id", portion.size),
      };
    case "these":
      return {
        rows: `${all} and profile_id = any(${values.bind(portion.ids, "uuid[]")})
          and bucket = any(${values.bind(bucketsOfIds(portion.ids).all, "smallint[]")})`,
        end: first("profile_id", portion.size),
      };
    case "one":
      return { rows: `${all} and profile_id = ${values.bind(portion.id, "uuid")}`, end: "" };
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
       select 1 from profiles where workspace_id = $1 and ${IS_DRAWN} limit $2::int) as found`,
    [workspaceId, most],
  );
  return row?.drawn ?? 0;
}

const SUMMARIES = { events: "event_summaries", purchases: "purchase_summaries" } as const;

/**
 * How many of the first users of a portion have at most so many rows together, and how many rows the first has. Summaries
 * tell, which also count what retention has deleted.
 */
export async function countFitting(
  look: Look,
  tables: ReadonlySet<keyof typeof SUMMARIES>,
  mostRows: number,
): Promise<{ readonly users: number; readonly rowsOfFirst: number }> {
  const { parameters, values, from, end } = writing(look);
  const counts = [...tables].map(
    (table) =>
      `coalesce((select sum(s.count) from ${SUMMARIES[table]} s where ${itsRows("s")}), 0)`,
  );
  const order = look.portion.kind === "sample" ? CHANCE : "profile_id";
  const [row] = await look.tx.query<{ users: number; rows_of_first: number | null }>(
    `select count(*) filter (where through <= ${values.bind(mostRows, "bigint")})::int as users,
       max(through) filter (where place = 1)::bigint as rows_of_first
     from (select row_number() over (order by rank, id) as place, sum(own) over (order by rank, id) as through
       from (select ${order} as rank, profile_id as id, ${counts.join(" + ")} as own from ${from()}${end}) as p) as q`,
    parameters,
  );
  return { users: row?.users ?? 0, rowsOfFirst: row?.rows_of_first ?? 0 };
}

export interface PortionCount {
  readonly seen: number;
  readonly sure: number;
  /** The last id in their order; null in a sample, or if there was none. */
  readonly lastId: string | null;
  /** In a sample the highest of their parts that chance drew, 8 hexadecimal digits. */
  readonly highestChance: string | null;
}

/** A statement about the users of a portion, while it is written. */
interface Writing {
  readonly parameters: readonly unknown[];
  readonly values: Values;
  /** The users with all columns that were used so far. */
  from(): string;
  /** What follows the conditions. */
  readonly end: string;
}

function writing({ portion, workspaceId, now }: Look): Writing {
  const parameters: unknown[] = [];
  const { isCluster = false } = portion;
  const columns = columnsOf("p", isCluster);
  const values = valuesOf(now, parameters, columns);
  const { rows, end } = partsOf(portion, workspaceId, values);
  const from = () => columns.around(isCluster ? rows : rows + end);
  return { parameters, values, from, end: isCluster ? end : "" };
}

/**
 * Counts the users of a portion, and those who surely meet a filter.
 *
 * @throws StatementTooLarge
 */
export async function countPortion(look: Look, filter?: Filter): Promise<PortionCount> {
  const { parameters, values, from, end } = writing(look);
  const sure = filter ? filterSql(filter, (leaf) => leaf.sql(values)).must : "false";
  // Of each user at most one text: making and comparing them takes longer than many conditions.
  const ends =
    look.portion.kind === "sample"
      ? `null as "lastId", max(${CHANCE}) as "highestChance"`
      : `max(profile_id::text collate "C") as "lastId", null as "highestChance"`;
  const [row] = await look.tx.query<PortionCount>(
    `${NOT_PREPARED}select count(*) as seen, count(*) filter (where is_sure) as sure, ${ends}
     from (select profile_id, ${sure} as is_sure from ${from()}${end}) as p`,
    parameters,
  );
  return row as PortionCount;
}

/** A user who may meet a filter, with the data that decides it. */
export interface Candidate {
  readonly id: string;
  readonly email: string | null;
  /** For each condition whether it surely holds, apart from the conditions in `decided`. */
  readonly must: readonly boolean[];
  /** Whether it possibly holds; null if SQL always decides it. */
  readonly may: readonly (boolean | null)[];
  /** For each condition what decides about it, where SQL left it open. */
  readonly given: readonly (Json | null)[];
  /** Whether the conditions hold that were looked up last. */
  readonly decided: readonly boolean[];
}

/** Up to so many look-ups are made only for users whom they decide: the text has each three times. */
export const FEW_LOOKUPS = 5;

/**
 * The users of a portion in the order of their ids, with what decides about them.
 *
 * @param among leaves out users who cannot meet the filter, or of whom it is sure whether they do.
 * @param first the conditions that are worked out for each user.
 * @param last those that are looked up only where the filter depends on them. None without `among`.
 * @throws StatementTooLarge
 */
export async function selectCandidates(
  look: Look,
  among: { readonly filter: Filter; readonly which: "possible" | "open" } | undefined,
  { first, last }: { readonly first: readonly Leaf[]; readonly last: readonly Leaf[] },
) {
  const { parameters, values, from, end } = writing(look);
  const inside = look.portion.isCluster ? [...first, ...last] : first;
  const bounds = inside.map((leaf) => leaf.sql(values));
  // In lists: the engine finds a column of a statement by going through all of them.
  const must = bounds.map((each) => each.must);
  const may = bounds.map((each) => (each.may === each.must ? "null" : each.may));
  const places = new Map(inside.map((leaf, index) => [leaf, index]));
  const text = (leaf: Leaf): Bounds => {
    const place = places.get(leaf);
    if (place === undefined) return leaf.sql(values);
    const side = may[place] === "null" ? "must" : "may";
    return { must: `p.must[${place + 1}]`, may: `p.${side}[${place + 1}]` };
  };
  // The value only where the program has to look at it: an attribute may take a megabyte, and there are 50 conditions.
  const given = first.map(({ open }, index) =>
    open
      ? `case when p.must[${index + 1}] <> p.may[${index + 1}] then ${open.json(values)} end`
      : "null",
  );
  const looked = last.map((leaf) => text(leaf).must);
  const wanted = among ? filterSql(among.filter, text) : decided("true");
  return look.tx.query<Candidate>(
    `${NOT_PREPARED}select p.profile_id as id, p.email, to_jsonb(p.must[:${first.length}]) as must, to_jsonb(p.may[:${first.length}]) as may,
       to_jsonb(array[${given}]::jsonb[]) as given, to_jsonb(array[${looked}]::boolean[]) as decided
     from (select p.*, array[${must}]::boolean[] as must, array[${may}]::boolean[] as may
       from ${from()}${look.portion.isCluster ? end : " offset 0"}) as p
     where ${wanted.may}${among?.which === "open" ? ` and not ${wanted.must}` : ""} order by p.profile_id`,
    parameters,
  );
}

export async function selectAddresses(
  { tx, workspaceId }: Look,
  emails: readonly string[],
): Promise<{ email: string; state: EmailState | null; hasBounced: boolean }[]> {
  if (emails.length === 0) return [];
  const parameters = [workspaceId, emails, bucketsOfValues(workspaceId, emails).all];
  const whereAddress =
    "where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])";
  return tx.query(
    `select email, max(state) as state, bool_or(bounced) as "hasBounced" from (
       select email, state, false as bounced from email_states ${whereAddress}
       union all
       select email, null as state, true as bounced from hard_bounces ${whereAddress}) as addresses
     group by email`,
    parameters,
  );
}
