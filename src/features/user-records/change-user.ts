import { recordUserChanges } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { Problem } from "../../core/base/problem.ts";
import { checkRequest } from "../../core/track/check-request.ts";
import { type WriteServices, writeBatch } from "../../core/track/write-batch.ts";
import { requireProfile } from "./find-record.ts";

/** Members that would name another user, or create one. */
const IDENTIFYING = [
  "external_id",
  "user_alias",
  "platform_id",
  "braze_id",
  "_update_existing_only",
];

/**
 * Sets attributes and subscription states of one user, by the rules of an attributes object of
 * /users/track. A wrong value is refused, even if the workspace leaves wrong values out of its
 * clients' requests.
 *
 * The audit names the attributes that were set, and none of their values.
 *
 * @throws Problem INVALID_REQUEST with the fault of the first wrong value; NOT_FOUND; CONFLICT for a merged user.
 */
export async function changeUser(
  services: WriteServices,
  context: WorkspaceContext,
  platformId: string,
  attributes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { database, clock } = services;
  const { workspace } = context;
  const stray = IDENTIFYING.find((name) => name in attributes);
  if (stray)
    throw new Problem("INVALID_REQUEST", `'${stray}' cannot be set: the path names the user`);
  await requireProfile(database, workspace.id, platformId);
  const row = { ...attributes, platform_id: platformId, _update_existing_only: true };
  const strict: Workspace = { ...workspace, settings: { ...workspace.settings, intake: "strict" } };
  const capacity = { objects: 1 };
  const { items, faults } = await checkRequest(
    strict,
    { attributes: [row] },
    clock.now(),
    capacity,
  );
  for (const { value } of faults) throw new Problem("INVALID_REQUEST", value.message);
  await writeBatch(services, [
    {
      context,
      items,
      async readBack(tx, [verdict]) {
        if (verdict?.outcome === "refused") {
          throw new Problem("INVALID_REQUEST", verdict.fault.message);
        }
        if (verdict?.outcome === "skipped") {
          throw new Problem("NOT_FOUND", `There is no user '${platformId}'.`);
        }
        const details = { attributes: Object.keys(attributes) };
        const change = { action: "updated", kind: "user", name: platformId, details };
        await recordUserChanges(tx, clock, context, [{ ...change, workspace: workspace.name }]);
      },
    },
  ]);
}
