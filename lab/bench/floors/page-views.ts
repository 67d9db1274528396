import { profileIdOf, SEEDED_WORKSPACE } from "../engines/seed.ts";
import type { FloorWork } from "./floor-work.ts";

/* The reads of a preference page: the profile and its group states, in binary form and not decoded. */

const TABLES = ["profiles", "group_states"];

const readingAll = (result: string): Record<string, string> =>
  Object.fromEntries(
    TABLES.map((table) => [
      table,
      `select ${result} from ${table} as found
       where workspace_id = ${SEEDED_WORKSPACE} and profile_id = any($1::uuid[])`,
    ]),
  );

export const pageViewsFloor: FloorWork = {
  postgres: { connections: 4, unitsPerBatch: 200, statements: readingAll("found.*") },
  // In one value, as in reads.ts.
  embedded: { connections: 1, unitsPerBatch: 200, statements: readingAll("array_agg(found.*)") },
  write(messages, units, _random, pick) {
    const values = Array.from({ length: units }, () => profileIdOf(pick()));
    for (const table of TABLES) messages.execute(table, [{ of: "uuid", values }]);
  },
};
