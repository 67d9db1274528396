import { earlier } from "../../base/clock.ts";
import type { Context } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { type Database, type Transaction, withRetries } from "../../database/database.ts";
import { lockPeople } from "../../database/people-lock.ts";
import type { Authenticator } from "../../http/callers.ts";
import { recordChanges } from "../audit/audit.ts";
import {
  deleteRowsOf,
  hasUserData,
  insertDeleted,
  markSwept,
  selectUnswept,
} from "./deletion-store.ts";
import { findWorkspace } from "./find-workspace.ts";
import type { ResetServices } from "./reset.ts";
import { lockForApply } from "./store.ts";

/*
 * The deletion of a workspace. decision: docs/decisions/deleted-workspaces.md.
 */

/** Removes what refers to a workspace outside the tables that have a column for it. */
export type ReferenceEraser = (
  tx: Transaction,
  workspace: Pick<Workspace, "id" | "name">,
  now: Date,
) => Promise<unknown>;

export interface DeleteServices extends Omit<ResetServices, "erasers"> {
  /** One for every feature that refers to workspaces outside its own rows. */
  readonly referenceErasers: readonly ReferenceEraser[];
  readonly authenticator: Pick<Authenticator, "forget">;
}

/**
 * Deletes a workspace with everything in it. It is audited; the audit keeps the rows about the workspace.
 *
 * @throws Problem NOT_FOUND, or CONFLICT if it has users and no `allow_reset: true`.
 */
export async function deleteWorkspace(
  services: DeleteServices,
  context: Context,
  name: string,
): Promise<void> {
  const { id } = await withRetries(services.database.for("maintenance"), async (tx) => {
    await lockForApply(tx);
    const workspace = await findWorkspace(tx, name);
    await lockPeople(tx, workspace.id);
    if (!workspace.allowReset && (await hasUserData(tx, workspace.id))) {
      throw new Problem(
        "CONFLICT",
        `The workspace '${name}' has users, and cannot be deleted without allow_reset: true.`,
      );
    }
    const now = services.clock.now();
    for (const erase of services.referenceErasers) await erase(tx, workspace, now);
    await deleteRowsOf(tx, workspace.id);
    await insertDeleted(tx, workspace.id, now);
    const change = { action: "removed", kind: "workspace", workspace: name, name };
    await recordChanges(tx, services.clock, context, [change]);
    return workspace;
  });
  services.authenticator.forget();
  services.forgetWorkspace(id);
}

/** Longer than any request takes, and longer than servers cache the owner of a key. */
const SETTLED_AFTER = { hours: 1 };

/** Removes what requests wrote that were under way on some server while their workspace was deleted. */
export async function sweepDeletedWorkspaces(database: Database, now: Date): Promise<void> {
  for (const id of await selectUnswept(database, earlier(now, SETTLED_AFTER))) {
    await withRetries(database, async (tx) => {
      await lockPeople(tx, id);
      await deleteRowsOf(tx, id);
      await markSwept(tx, id, now);
    });
  }
}
