import type { Queryable } from "../database/database.ts";
import { selectWorkspace } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** A workspace with all that is declared about it, for work that no key is shown for. */
export const loadWorkspace = (database: Queryable, id: number): Promise<Workspace | undefined> =>
  selectWorkspace(database, id);
