import Type from "typebox";
import type { Context, WorkspaceContext } from "../../base/context/context.ts";
import { type DeclaredSettings, Settings } from "../../base/context/workspace-settings.ts";
import { ClosedObject } from "../../base/values/schemas.ts";
import { findCompany, findWorkspace } from "./find-workspace.ts";
import {
  beginWorkspace,
  listWorkspaces,
  saveCompany,
  saveWorkspace,
  type WantedWorkspace,
} from "./manage-workspaces.ts";
import { AllowReset, Name } from "./manifest.ts";
import type { Editable, Entry } from "./resource.ts";
import type { WorkspaceRow } from "./store.ts";

/*
 * The company, the workspaces and their settings. They are the frame of a manifest, which
 * `apply-manifest.ts` applies itself.
 */

export const company: Editable<Context> = {
  key: "company",
  permissions: { read: "manage_company_settings", write: "manage_company_settings" },
  schema: ClosedObject({ name: Name }),
  async read(database) {
    const { name } = await findCompany(database);
    return [{ name }];
  },
  async put(tx, services, _context, { name }) {
    return (await saveCompany(tx, services, name as string)).changes;
  },
};

const viewOf = ({ name, allowReset, settings }: WorkspaceRow) => ({
  name,
  allow_reset: allowReset,
  settings,
});

/**
 * Workspaces are removed by a separate endpoint, because that takes long: `delete-workspace.ts`.
 */
export const workspaces: Editable<Context> = {
  key: "workspaces",
  permissions: { read: "add_remove_app_groups", write: "add_remove_app_groups" },
  identity: "name",
  parameter: "name",
  schema: ClosedObject({
    name: Name,
    allow_reset: Type.Optional(AllowReset),
    settings: Type.Optional(Settings),
  }),
  view: { name: Type.String(), allow_reset: Type.Boolean(), settings: Settings },
  async read(database) {
    return (await listWorkspaces(database)).map(viewOf);
  },
  async put(tx, services, context, entry) {
    const { name, ...wanted } = entry as unknown as { name: string } & WantedWorkspace;
    const { id } = await findCompany(tx);
    const { isNew, changes } = await saveWorkspace(tx, services, id, name, wanted);
    if (!isNew) return changes;
    const inWorkspace = { ...context, workspace: await findWorkspace(tx, name) };
    return [...changes, ...(await beginWorkspace(tx, services, inWorkspace, {}))];
  },
};

export const settings: Editable<WorkspaceContext> = {
  key: "settings",
  permissions: { read: "basic_access", write: "admin" },
  schema: Settings,
  view: { settings: Settings },
  async read(database, { workspace }) {
    return [{ settings: (await findWorkspace(database, workspace.name)).settings }];
  },
  present: (_database, _services, _context, shown) => shown.settings as Entry,
  async put(tx, services, { workspace: { name } }, entry) {
    const { id } = await findCompany(tx);
    const { allowReset } = await findWorkspace(tx, name);
    const wanted = { allow_reset: allowReset, settings: entry as DeclaredSettings };
    return (await saveWorkspace(tx, services, id, name, wanted)).changes;
  },
};
