import Type from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { ClosedObject } from "../../base/values/schemas.ts";
import { listedResource } from "./listed-resource.ts";
import { DeclaredId, Name } from "./manifest.ts";
import { type DeclaredApp, deleteApps, selectApps, upsertApps } from "./store.ts";

export { type DeclaredApp, selectApps as readApps } from "./store.ts";

export const PLATFORMS = [
  "android",
  "fire_os",
  "ios",
  "macos",
  "roku",
  "tvos",
  "unity",
  "web",
  "windows",
] as const;

export const apps = listedResource<DeclaredApp, WorkspaceContext>({
  key: "apps",
  about: "The apps that events, purchases and push tokens may refer to as app_id.",
  schema: ClosedObject({
    id: DeclaredId,
    name: Name,
    platform: Type.Enum([...PLATFORMS], { description: "The platform of the app." }),
  }),
  identity: "id",
  kind: "app",
  permissions: { read: "basic_access", write: "manage_apps" },
  nameOf: (app) => app.name,
  select: (database, { workspace }) => selectApps(database, workspace.id),
  save: (tx, { workspace }, entries) => upsertApps(tx, workspace.id, entries),
  remove: (tx, { workspace }, entries) => deleteApps(tx, workspace.id, entries),
});
