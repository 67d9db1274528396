import type { WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { settleAll, type Transaction, withRetries } from "../../database/database.ts";
import { lockPeople } from "../../database/people-lock.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { recordChanges } from "../audit/audit.ts";

/** Removes a feature's data about the users of a workspace. */
export type Eraser = (tx: Transaction, workspaceId: number) => Promise<unknown>;

/** Those of every feature that holds user data. */
export interface Erasers {
  /** One after the other, before the rest. */
  readonly first: readonly Eraser[];
  /** In any order. */
  readonly later: readonly Eraser[];
}

export interface ResetServices extends StoringServices {
  readonly erasers: Erasers;
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
    for (const erase of services.erasers.first) await erase(tx, workspace.id);
    // Together: all writers of the workspace wait meanwhile.
    await settleAll(services.erasers.later.map((erase) => erase(tx, workspace.id)));
    const change = { action: "reset", kind: "workspace", workspace: name, name };
    await recordChanges(tx, services.clock, context, [change]);
  });
  services.forgetWorkspace(workspace.id);
}
