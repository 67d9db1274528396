import { stringify } from "yaml";
import { callAdmin } from "../admin-client.ts";
import type { AdminTarget } from "../target.ts";
import { workspacePath } from "../workspace-option.ts";

interface ExportedManifest {
  readonly manifest: unknown;
  readonly variables: readonly string[];
}

/** The manifest of a workspace as YAML, headed by the variables that an apply needs. */
export async function configText(
  target: AdminTarget,
  workspace: string,
): Promise<{ readonly text: string; readonly variables: readonly string[] }> {
  const path = `${workspacePath(workspace)}/manifest`;
  const { manifest, variables } = await callAdmin<ExportedManifest>(target, "GET", path);
  const head = [
    `# The manifest of the workspace ${workspace}. Apply it with: rapport apply FILE`,
    ...(variables.length > 0 ? ["# Secrets are not exported. Set these variables first:"] : []),
    ...variables.map((name) =>
      name === "DOLLAR" ? "#   export DOLLAR='$'" : `#   export ${name}=`,
    ),
  ];
  return { text: `${head.join("\n")}\n${stringify(manifest)}`, variables };
}
