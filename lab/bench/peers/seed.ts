import { EVENTS_PER_USER } from "../engines/seed.ts";
import { EVENT_NAMES } from "../workloads/updates.ts";

/* The users and events of engines/seed.ts, for tables with a column for each attribute. */

/** The columns of users with their values, in SQL; `n` is the number of the user. */
export const USER_COLUMNS: Readonly<Record<string, string>> = {
  external_id: "'user-' || n",
  first_name: "'First ' || n % 500",
  last_name: "'Last ' || n % 1000",
  country: "'US'",
  language: "'en'",
  home_city: "'Town ' || n % 200",
  plan: "'free'",
  score: "n % 1000",
  last_page: "'/products/' || n % 5000",
  tags: `'["one", "two", "three"]'`,
  newsletter: "true",
  spent: "(n % 10000) / 100.0",
};

/** The columns of events; `k` is the number of the event among the user's events. */
export const EVENT_COLUMNS: Readonly<Record<string, string>> = {
  external_id: "'user-' || n",
  name: `'event_' || (n + k * 3) % ${EVENT_NAMES.length}`,
  occurred_at: "'2026-01-01'",
  properties: `'{"sku": "SKU-1", "price": 9.5, "channel": "web"}'`,
};

/** @param columns all that the table needs. */
export const insertUsers = (
  table: string,
  columns: Readonly<Record<string, string>>,
  users: number,
): string => `${insertInto(table, columns)} from generate_series(0, ${users - 1}) as n`;

/** @param columns all that the table needs. */
export const insertEvents = (
  table: string,
  columns: Readonly<Record<string, string>>,
  users: number,
): string =>
  `${insertInto(table, columns)}
   from generate_series(0, ${users - 1}) as n, generate_series(1, ${EVENTS_PER_USER}) as k`;

const insertInto = (table: string, columns: Readonly<Record<string, string>>): string =>
  `insert into ${table} (${Object.keys(columns).map((name) => `"${name}"`)})
   select ${Object.values(columns)}`;

/** The remaining work after the tables are filled. */
export const SETTLE = ["vacuum analyze", "checkpoint"];

/**
 * SQL that counts the users that updates of attributes have changed. The chance that an update sets
 * all four values to their old ones is one in 3,000,000,000.
 *
 * @param column the SQL for an attribute.
 */
export const countChanged = (table: string, column: (name: string) => string): string => {
  const changed = ["home_city", "plan", "score", "last_page"].map(
    (name) => `${column(name)} is distinct from (${USER_COLUMNS[name]})::text`,
  );
  return `select count(*) as rows
    from (select *, substr(external_id, 6)::int as n from ${table}) as users
    where ${changed.join(" or ")}`;
};
