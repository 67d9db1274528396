import { recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { WorkspaceContext } from "../context/context.ts";
import { type Database, type Transaction, withRetries } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { lockPeople, lockPeopleShared } from "./store.ts";

export { PEOPLE_LOCK_CLASS } from "./store.ts";

/** Removes what one facility holds about the people of a workspace. */
export type Eraser = (tx: Transaction, workspaceId: number) => Promise<void>;

export interface ResetServices {
  readonly database: Database;
  readonly clock: Clock;
  /** One for every feature that holds user data. */
  readonly erasers: readonly Eraser[];
}

/**
 * Said first by every transaction that writes people of a workspace or what belongs to them: it
 * waits while the workspace is being reset. Otherwise a person made in the middle of a reset would
 * lose the profile and keep its identifiers, which would lead nowhere.
 */
export const writePeopleOf = (tx: Transaction, workspaceId: number): Promise<void> =>
  lockPeopleShared(tx, workspaceId);

/**
 * Empties a workspace of its user data; what is declared (keys, apps, groups) stays. It is audited.
 *
 * @throws Problem NOT_FOUND, or FORBIDDEN where the manifest does not say `allow_reset: true`.
 */
export async function resetWorkspace(
  services: ResetServices,
  { workspace, ...context }: WorkspaceContext,
): Promise<void> {
  const { name } = workspace;
  if (!workspace.allowReset) {
    throw new Problem(
      "FORBIDDEN",
      `The workspace '${name}' cannot be reset: its manifest does not have allow_reset: true.`,
    );
  }
  await withRetries(services.database.for("analysis"), async (tx) => {
    await lockPeople(tx, workspace.id);
    for (const erase of services.erasers) await erase(tx, workspace.id);
    const change = { action: "reset", kind: "workspace", workspace: name, name };
    await recordChanges(tx, services.clock, context, [change]);
  });
}
