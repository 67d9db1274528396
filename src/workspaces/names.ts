import type { Queryable } from "../database/database.ts";
import { selectWorkspaces } from "./store.ts";

/** What every workspace is called, by its id. */
export async function readWorkspaceNames(
  database: Queryable,
): Promise<ReadonlyMap<number, string>> {
  const workspaces = await selectWorkspaces(database);
  return new Map(workspaces.map(({ id, name }) => [id, name]));
}
