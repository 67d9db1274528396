import { callAdmin } from "./admin-client.ts";
import type { AdminTarget } from "./target.ts";

/** The path of a workspace in the admin API. */
export const workspacePath = (name: string): string => `/workspaces/${encodeURIComponent(name)}`;

/**
 * The workspace that a command works on.
 *
 * @param given by `--workspace`; without it the server must have one workspace.
 * @throws with the names to choose from.
 */
export async function findWorkspaceName(
  target: AdminTarget,
  given: string | undefined,
): Promise<string> {
  const { workspaces } = await callAdmin<{ workspaces: readonly { readonly name: string }[] }>(
    target,
    "GET",
    "/workspaces",
  );
  const names = workspaces.map(({ name }) => name);
  if (names.length === 0) throw new Error("There is no workspace yet: apply a manifest.");
  if (given !== undefined) {
    if (names.includes(given)) return given;
    throw new Error(`There is no workspace '${given}'. There are: ${names.join(", ")}.`);
  }
  const [only, second] = names;
  if (only !== undefined && second === undefined) return only;
  throw new Error(`Choose a workspace with --workspace: ${names.join(", ")}.`);
}
