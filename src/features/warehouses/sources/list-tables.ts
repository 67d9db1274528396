import Type from "typebox";
import { firstTables, SourceFailed, TABLES_LIMIT, type TableList } from "./source.ts";
import { type Dialect, firstRows, type Result } from "./sql-table.ts";

/* The names of a warehouse's tables and views, spelled as statements need them. */

/**
 * Words that mean something in the SQL of a warehouse, so that a table of this name is quoted. A
 * name that is quoted needlessly means the same: it is spelled as the warehouse stores it.
 */
const WORDS = new Set(
  (
    "account all alter analyze and any as asc between both by case cast check column connection constraint create " +
    "cross cube current current_date current_time current_timestamp current_user database default delete desc " +
    "distinct drop else end except exists false fetch following for foreign from full function grant group groups " +
    "gscluster having ilike in increment index inner insert intersect interval into is issue join key keys lateral " +
    "leading left like limit localtime localtimestamp lock match minus natural not null of offset on option or order " +
    "organization outer over partition primary procedure qualify range rank read references regexp revoke right " +
    "rlike row rows sample schema select session_user set some start system table tablesample then to trailing " +
    "trigger true try_cast union unique unknown update usage user using values view when whenever where window with write"
  ).split(" "),
);

/**
 * The name of a table as a statement has it.
 *
 * @param such an example.
 * @param spelling how a name is spelled that is not plain.
 */
export const TableName = (form: RegExp, maxLength: number, such: string, spelling: string) =>
  Type.Refine(
    Type.String({ maxLength, description: `A table or view, such as ${such}; ${spelling}.` }),
    (table) => form.test(table),
    () => `must be the name of a table, such as ${such}, ${spelling}`,
  );

interface Spelling extends Pick<Dialect, "quote"> {
  /** A name that needs no quotes, unless it is a word of SQL. */
  readonly plain: RegExp;
}

/** The parts of a name with dots between them, each in quotes if it needs them. */
export const spelled = (parts: readonly string[], { plain, quote }: Spelling): string =>
  parts
    .map((part) => (plain.test(part) && !WORDS.has(part.toLowerCase()) ? part : quote(part)))
    .join(".");

/**
 * The names in the rows of a statement that gives the parts of each.
 *
 * @throws SourceFailed
 */
export async function tablesOf(result: Result, spelling: Spelling): Promise<TableList> {
  const rows = await firstRows(result, TABLES_LIMIT);
  const names = rows.map((parts) => {
    if (Array.isArray(parts) && parts.every((part) => typeof part === "string")) {
      return spelled(parts as string[], spelling);
    }
    throw new SourceFailed(undefined, "the warehouse lists tables without names.");
  });
  return firstTables(names);
}
