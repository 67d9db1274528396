import { SEEDED_WORKSPACE } from "../engines/seed.ts";
import { externalIdOf } from "../workloads/users.ts";
import type { FloorWork } from "./floor-work.ts";

/*
 * The reads of an export: profiles by external_id, with all their data, in binary form and not
 * decoded.
 */

const TABLES = ["profiles", "event_summaries", "purchase_summaries", "group_states"];

const readingAll = (result: string): Record<string, string> =>
  Object.fromEntries(
    TABLES.map((table) => [
      table,
      `select ${result} from identifiers join ${table} as found
         on found.workspace_id = identifiers.workspace_id
           and found.profile_id = identifiers.profile_id
       where identifiers.workspace_id = ${SEEDED_WORKSPACE} and identifiers.kind = 'external_id'
         and identifiers.value = any($1::text[])`,
    ]),
  );

export const readsFloor: FloorWork = {
  postgres: { connections: 4, unitsPerBatch: 200, statements: readingAll("found.*") },
  // In one value, because this engine hands over each row on its own, which takes longer than
  // finding it.
  embedded: { connections: 1, unitsPerBatch: 200, statements: readingAll("array_agg(found.*)") },
  write(messages, units, _random, pick) {
    const values = Array.from({ length: units }, () => externalIdOf(pick()));
    for (const table of TABLES) messages.execute(table, [{ of: "text", values }]);
  },
};
