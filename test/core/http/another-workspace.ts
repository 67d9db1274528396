/* A workspace that others must neither see nor change: the people whom the samples name, and its rows. */
import type { Database } from "../../../src/core/database/database.ts";
import type { LastingDatabase } from "../../databases.ts";
import type { TestServer, TestWorkspace } from "../../harness.ts";
import type { Sample } from "../../sample-requests.ts";

/** An attribute of every user of the workspace. */
export const MARK = "only-its-own-workspace-may-see-this";

/** Writes the mark to everybody whom the samples name. */
export async function markPeople(
  workspace: TestWorkspace,
  samples: readonly Sample[],
): Promise<void> {
  const people = peopleOf(samples);
  for (let index = 0; index < people.length; index += 50) {
    await workspace.track({ attributes: people.slice(index, index + 50) });
  }
}

const IDENTIFIERS: Readonly<Record<string, string>> = {
  external_id: "external_id",
  external_ids: "external_id",
  email: "email",
  emails: "email",
  phone: "phone",
  phones: "phone",
};

/** An attributes object for everybody whom a value names, with the mark in it. */
function peopleOf(value: unknown, key = ""): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  const kind = IDENTIFIERS[key];
  if (typeof value === "string" && kind) found.push({ [kind]: value, mark: MARK });
  if (value === null || typeof value !== "object") return found;
  if ("alias_name" in value && "alias_label" in value) {
    const { alias_name, alias_label } = value;
    found.push({
      user_alias: { alias_name, alias_label },
      mark: MARK,
      _update_existing_only: false,
    });
  }
  for (const [name, member] of Object.entries(value)) {
    found.push(...peopleOf(member, Array.isArray(value) ? key : name));
  }
  return found;
}

/**
 * What the server writes by itself: it keeps its latest requests of all workspaces, and new ones push older ones out; and it
 * counts the customers of each, again each day.
 */
const OWN_WORK = [
  "live_requests",
  "customer_recounts",
  "customer_counts",
  "customer_days",
  "customer_activity",
];

/** Stops a server, so that nothing is left to be written. @returns all rows of a workspace, by table. */
export async function rowsAfterStopOf(
  server: TestServer,
  { database }: LastingDatabase,
  { name }: TestWorkspace,
): Promise<Record<string, string[]>> {
  await server.stop();
  return rowsOf(database, name);
}

async function rowsOf(database: Database, name: string): Promise<Record<string, string[]>> {
  const [workspace] = await database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [name],
  );
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'workspace_id' and table_name <> all($1)
     order by table_name`,
    [OWN_WORK],
  );
  const rows: Record<string, string[]> = {};
  for (const table of tables) {
    const found = await database.query<{ row: unknown }>(
      `select to_jsonb(each) as row from ${table.name} each where workspace_id = $1`,
      [workspace?.id],
    );
    rows[table.name] = found.map((each) => JSON.stringify(each.row)).sort();
  }
  return rows;
}
