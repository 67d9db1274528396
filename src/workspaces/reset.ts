import { type Database, type Transaction, withRetries } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findWorkspace } from "./find-workspace.ts";

/** Removes what one facility holds about the people of a workspace. */
export type Eraser = (tx: Transaction, workspaceId: number) => Promise<void>;

export interface ResetServices {
  readonly database: Database;
  /** One for every facility that holds user data. */
  readonly erasers: readonly Eraser[];
}

/**
 * Empties a workspace of its user data; what is declared (keys, apps, groups) stays.
 *
 * @throws Problem NOT_FOUND, or FORBIDDEN where the manifest does not say `allow_reset: true`.
 */
export async function resetWorkspace(services: ResetServices, name: string): Promise<void> {
  const workspace = await findWorkspace(services.database, name);
  if (!workspace.allowReset) {
    throw new Problem(
      "FORBIDDEN",
      `The workspace '${name}' may not be reset: its manifest does not say allow_reset: true.`,
    );
  }
  await withRetries(services.database, async (tx) => {
    for (const erase of services.erasers) await erase(tx, workspace.id);
  });
}
