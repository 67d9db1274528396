import { loadWorkspace } from "../../../core/admin/workspaces/find-workspace.ts";
import type { Clock } from "../../../core/base/clock.ts";
import { commitTogether } from "../../../core/database/commit-together.ts";
import type { Transaction } from "../../../core/database/database.ts";
import { recordChanges } from "../../../core/people/changes/record-changes.ts";
import type { StoredExport } from "./store.ts";

export async function recordExportEnd(
  tx: Transaction,
  clock: Clock,
  { workspaceId, id, segmentId, prefix, files, users, failure }: StoredExport,
): Promise<void> {
  const workspace = await loadWorkspace(tx, workspaceId);
  if (!workspace || workspace.feed === null) return;
  const change = {
    type: "export.finished" as const,
    export_id: id,
    segment_id: segmentId,
    object_prefix: prefix,
    status: failure === null ? "success" : "error",
    files,
    users,
  };
  await commitTogether(tx);
  await recordChanges(tx, workspaceId, workspace.feed, { drafts: [change] }, clock);
}
