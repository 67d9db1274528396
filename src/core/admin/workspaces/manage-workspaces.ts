import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import {
  DEFAULT_SETTINGS,
  type DeclaredSettings,
  type WorkspaceSettings,
} from "../../base/context/workspace-settings.ts";
import type { Transaction } from "../../database/database.ts";
import { differences } from "./field-changes.ts";
import type { ConfigChange, ResourceServices } from "./resource.ts";
import {
  insertCompany,
  insertWorkspace,
  renameCompany,
  selectCompany,
  selectWorkspaceBefore,
  updateWorkspace,
  type WorkspaceRow,
} from "./store.ts";

/* Changes to the company and its workspaces, for a manifest and for the admin API. */

type Clocked = { readonly clock: Clock };

export async function saveCompany(
  tx: Transaction,
  { clock }: Clocked,
  name: string,
): Promise<{ readonly id: string; readonly changes: ConfigChange[] }> {
  const known = await selectCompany(tx);
  const id = known?.id ?? clock.newId();
  const change = (action: ConfigChange["action"]): ConfigChange[] => [
    {
      action,
      kind: "company",
      workspace: "",
      name,
      ...(known && {
        fields: [{ field: "name", before: known.name, after: name }],
        before: { name: known.name },
        details: { name },
      }),
    },
  ];
  if (!known) {
    await insertCompany(tx, { id, name }, clock.now());
    return { id, changes: change("created") };
  }
  if (known.name === name) return { id, changes: [] };
  await renameCompany(tx, { id, name });
  return { id, changes: change("updated") };
}

/** A workspace as declared; omitted fields reset to their defaults. */
export interface WantedWorkspace {
  readonly allow_reset?: boolean | undefined;
  readonly settings?: DeclaredSettings | undefined;
}

export async function saveWorkspace(
  tx: Transaction,
  { clock, nameErasers }: Pick<ResourceServices, "clock" | "nameErasers">,
  companyId: string,
  name: string,
  { allow_reset = false, settings: declared }: WantedWorkspace,
): Promise<{ readonly id: number; readonly isNew: boolean; readonly changes: ConfigChange[] }> {
  const { known, nextId } = await selectWorkspaceBefore(tx, name);
  const id = known?.id ?? nextId;
  const settings = settingsOf(declared);
  const wanted: WorkspaceRow = { id, name, allowReset: allow_reset, settings };
  const details = { allow_reset, settings };
  const change = (action: ConfigChange["action"]): ConfigChange[] => [
    { action, kind: "workspace", workspace: name, name, details },
  ];
  if (!known) {
    const now = clock.now();
    // Permissions that were given while a workspace of this name was deleted are still stored.
    for (const erase of nameErasers) await erase(tx, { kind: "workspace", names: [name] }, now);
    await insertWorkspace(tx, companyId, wanted, now);
    return { id, isNew: true, changes: change("created") };
  }
  if (isDeepStrictEqual(known, wanted)) return { id, isNew: false, changes: [] };
  await updateWorkspace(tx, wanted);
  const before = { allow_reset: known.allowReset, settings: known.settings };
  const fields = differences(before, details);
  const changes = change("updated").map((each) => ({ ...each, before, fields }));
  return { id, isNew: false, changes };
}

const settingsOf = (declared: WantedWorkspace["settings"]): WorkspaceSettings =>
  ({ ...DEFAULT_SETTINGS, ...declared }) as WorkspaceSettings;

/** All workspaces, in the order of their creation. */
export { selectWorkspaces as listWorkspaces } from "./store.ts";

/**
 * Creates the defaults of a new workspace.
 *
 * @param declared the resources that its creator declares; they get no defaults.
 */
export async function beginWorkspace(
  tx: Transaction,
  services: ResourceServices,
  context: WorkspaceContext,
  declared: Readonly<Record<string, unknown>>,
): Promise<ConfigChange[]> {
  const changes: ConfigChange[] = [];
  for (const resource of services.resources) {
    if (declared[resource.key] !== undefined || !resource.begin) continue;
    changes.push(...(await resource.begin(tx, services, context)));
  }
  return changes;
}
