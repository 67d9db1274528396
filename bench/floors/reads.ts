import { SEEDED_WORKSPACE } from "../engines/seed.ts";
import { externalIdOf } from "../workloads/users.ts";
import type { FloorWork } from "./floor-work.ts";

/*
 * What an export reads: profiles by external_id, with all that belongs to them, as rows in binary
 * form that nobody looks at.
 */

const readAllOf = (table: string): string => `
  select found.* from identifiers join ${table} as found
    on found.workspace_id = identifiers.workspace_id
      and found.profile_id = identifiers.profile_id
  where identifiers.workspace_id = ${SEEDED_WORKSPACE} and identifiers.kind = 'external_id'
    and identifiers.value = any($1::text[])`;

const statements = {
  profiles: readAllOf("profiles"),
  events: readAllOf("event_summaries"),
  purchases: readAllOf("purchase_summaries"),
  groups: readAllOf("group_states"),
};

export const readsFloor: FloorWork = {
  statements,
  postgres: { connections: 4, unitsPerBatch: 200 },
  embedded: { connections: 1, unitsPerBatch: 200 },
  write(messages, units, _random, pick) {
    const values = Array.from({ length: units }, () => externalIdOf(pick()));
    for (const statement of Object.keys(statements)) {
      messages.execute(statement, [{ of: "text", values }]);
    }
  },
};
