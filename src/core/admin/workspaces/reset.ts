import type { WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { type Transaction, withRetries } from "../../database/database.ts";
import { lockPeople } from "../../database/people-lock.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { recordChanges } from "../audit/audit.ts";

/** Removes a feature's data about the users of a workspace. */
export type Eraser = (tx: Transaction, workspaceId: number) => Promise<void>;

export interface ResetServices extends StoringServices {
  /** One for every feature that holds user data. */
  readonly erasers: readonly Eraser[];
  /** Drops what this process holds in memory about a workspace, which the erasers do not reach. */
  readonly forgetWorkspace: (workspaceId: number) => void;
}

/**
 * Deletes the user data of a workspace; declared resources (keys, apps, groups) stay. It is
 * audited.
 *
 * @throws Problem FORBIDDEN without `allow_reset: true`.
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
  await withRetries(services.database.for("maintenance"), async (tx) => {
    await lockPeople(tx, workspace.id);
    for (const erase of services.erasers) await erase(tx, workspace.id);
    const change = { action: "reset", kind: "workspace", workspace: name, name };
    await recordChanges(tx, services.clock, context, [change]);
  });
  services.forgetWorkspace(workspace.id);
}
