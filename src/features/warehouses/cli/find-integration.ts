import { callAdmin } from "../../../cli/admin-client.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import { workspacePath } from "../../../cli/workspace-option.ts";

/**
 * The path of an integration in the admin API.
 *
 * @throws if there is no such integration, or more than one.
 */
export async function findIntegration(
  target: AdminTarget,
  name: string,
  workspace: string | undefined,
): Promise<string> {
  const query = new URLSearchParams({ name, ...(workspace && { workspace }) });
  const path = `/integrations?${query}`;
  const { results } = await callAdmin<"findIntegrations">(target, "GET", path);
  const [first, second] = results;
  if (!first) throw new Error(`There is no integration '${name}'.`);
  if (second) {
    const names = results.map((each) => each.workspace).join(", ");
    throw new Error(
      `Several workspaces have an integration '${name}': pass --workspace (${names}).`,
    );
  }
  return `${workspacePath(first.workspace)}/integrations/${first.integration_id}`;
}
