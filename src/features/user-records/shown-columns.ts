import { Problem } from "../../core/base/problem.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import type { ProfileRow } from "../../core/people/profiles/store.ts";
import { selectLastSeen, selectSpent } from "./shown-columns-store.ts";

/* What a list of users shows of each on request, column by column. */

const STANDARD = ["country", "home_city", "language", "time_zone", "gender", "dob"];

const CUSTOM = "custom_attributes.";

/** Every column but the custom attributes. */
export const COLUMNS: readonly string[] = [...STANDARD, "last_seen", "spent"];

/** How many characters of a value a column has: an attribute may take a megabyte. */
export const LONGEST_VALUE = 500;

/**
 * The values of columns of users; what a user does not have is left out.
 *
 * @throws Problem INVALID_REQUEST for a column that there is not.
 */
export async function readColumns(
  database: Queryable,
  workspaceId: number,
  profiles: readonly ProfileRow[],
  columns: readonly string[],
): Promise<(profile: ProfileRow) => Record<string, Json>> {
  const wrong = columns.find(
    (name) => !COLUMNS.includes(name) && !/^custom_attributes\../s.test(name),
  );
  if (wrong !== undefined) {
    const must = `must be ${COLUMNS.join(", ")} or ${CUSTOM}NAME`;
    throw new Problem("INVALID_REQUEST", `'columns' has ${JSON.stringify(wrong)}: each ${must}.`);
  }
  const idsFor = (column: string) => (columns.includes(column) ? profiles.map(({ id }) => id) : []);
  const [seen, spent] = await settleAll([
    selectLastSeen(database, workspaceId, idsFor("last_seen")),
    selectSpent(database, workspaceId, idsFor("spent")),
  ]);
  const seenAt = new Map(seen.map(({ profileId, lastAt }) => [profileId, lastAt]));
  const spentOf = groupBy(spent, ({ profileId }) => profileId);

  function columnOf(profile: ProfileRow, column: string): Json | undefined {
    const { id, standardAttributes: standard, customAttributes: custom } = profile;
    if (column.startsWith(CUSTOM)) {
      const name = column.slice(CUSTOM.length);
      // `constructor` is a name as well.
      return Object.hasOwn(custom, name) ? custom[name] : undefined;
    }
    if (column === "last_seen") return latest(seenAt.get(id), standard.date_of_last_session);
    if (column !== "spent") return standard[column];
    const sums = spentOf.get(id)?.map(({ currency, revenue }) => [currency, Number(revenue)]);
    return sums && Object.fromEntries(sums);
  }

  return (profile) =>
    Object.fromEntries(
      columns.flatMap((column) => {
        const value = columnOf(profile, column);
        return value === undefined || value === null ? [] : [[column, shortened(value)]];
      }),
    );
}

function latest(activity: Date | undefined, session: Json | undefined): string | undefined {
  const times = [activity, typeof session === "string" ? new Date(session) : undefined];
  const [last] = times.flatMap((each) => each?.getTime() || []).sort((one, other) => other - one);
  return last === undefined ? undefined : new Date(last).toISOString();
}

/** A value, or the beginning of its text if it is long. */
function shortened(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= LONGEST_VALUE
    ? value
    : `${text.slice(0, LONGEST_VALUE - 1).toWellFormed()}…`;
}
