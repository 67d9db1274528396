import { callAdmin } from "./admin-client.ts";
import { type AdminTarget, addCommand, type TargetOptions, targetOf } from "./target.ts";

export type WorkspaceOptions = TargetOptions & { readonly workspace?: string };

/** Adds a subcommand about a workspace of a running server; `locate` reads its options. */
export const addWorkspaceCommand = (...command: Parameters<typeof addCommand>) =>
  addCommand(...command).option("--workspace <name>", "needed if the server has several");

/** The server that a command talks to, and the path of its workspace in the admin API, or of something in it. */
export async function locate(
  options: WorkspaceOptions,
  below = "",
): Promise<{ target: AdminTarget; path: string }> {
  const target = targetOf(options);
  const name = await findWorkspaceName(target, options.workspace);
  return { target, path: `${workspacePath(name)}${below}` };
}

/** The entry that has a text as its id or its name. @throws with the names to choose from. */
export function findNamed<Entry extends { readonly id: string; readonly name: string }>(
  entries: readonly Entry[],
  noun: string,
  given: string,
): Entry {
  const found = entries.find(({ id, name }) => id === given.toLowerCase() || name === given);
  if (found) return found;
  const names = entries.map(({ name }) => name).join(", ");
  throw new Error(`There is no ${noun} '${given}'.${names ? ` There are: ${names}.` : ""}`);
}

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
  const { workspaces } = await callAdmin<"listWorkspaces">(target, "GET", "/workspaces");
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
