import Type from "typebox";
import { listedResource } from "../../core/admin/workspaces/listed-resource.ts";
import { Name } from "../../core/admin/workspaces/manifest.ts";
import {
  type ConfigChange,
  describe,
  difference,
  type Resource,
} from "../../core/admin/workspaces/resource.ts";
import type { CompanyContext, WorkspaceContext } from "../../core/base/context/context.ts";
import {
  READY_ROLES,
  WORKSPACE_PERMISSIONS,
} from "../../core/base/context/dashboard-permissions.ts";
import { Problem } from "../../core/base/problem.ts";
import { ClosedObject } from "../../core/base/values/schemas.ts";
import type { Transaction } from "../../core/database/database.ts";
import { selectLocalSignIn, upsertLocalSignIn } from "./credentials-store.ts";
import {
  type DeclaredPermissionSet,
  type DeclaredTeam,
  deletePermissionSets,
  deleteTeams,
  insertTeams,
  selectPermissionSets,
  selectTeams,
  upsertPermissionSets,
} from "./declared-store.ts";

/* The manifest's declarations for dashboard users. Credentials of identity providers are in access/. */

const Team = ClosedObject({
  name: Name,
  id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "Generated if omitted." }),
  ),
});

/** A team declared without an id is given one, and keeps it. */
const teams = listedResource<DeclaredTeam, WorkspaceContext>({
  key: "teams",
  about: "Teams of the workspace, which the permissions of dashboard users may name.",
  schema: Team,
  identity: "name",
  unique: "id",
  kind: "team",
  permissions: { read: "basic_access", write: "manage_teams" },
  nameOf: (team) => team.name,
  complete({ name, id }: Partial<DeclaredTeam>, known, { clock }) {
    return { id: id ?? known?.id ?? clock.newId(), name: name as string };
  },
  select: (database, { workspace }) => selectTeams(database, workspace.id),
  async save(tx, { workspace }, entries) {
    // Delete first: an id may move from one team to another.
    await deleteTeams(tx, workspace.id, entries);
    await insertTeams(tx, workspace.id, entries);
  },
  remove: (tx, { workspace }, entries) => deleteTeams(tx, workspace.id, entries),
});

const PermissionSet = ClosedObject({
  name: Name,
  permissions: Type.Optional(
    Type.Array(Type.Enum([...WORKSPACE_PERMISSIONS]), {
      maxItems: WORKSPACE_PERMISSIONS.length,
      description: "The permissions of a user with the set in a workspace.",
    }),
  ),
});

const ownSets = listedResource<DeclaredPermissionSet, CompanyContext>({
  key: "permission_sets",
  about: "Named sets of workspace permissions that dashboard users may be given.",
  schema: PermissionSet,
  identity: "name",
  kind: "permission_set",
  // Changing a set could give oneself any permission.
  permissions: { read: "manage_company_settings", write: "admin" },
  nameOf: (set) => set.name,
  complete({ name, permissions }: Partial<DeclaredPermissionSet>) {
    return { name: name as string, permissions: permissions ?? [] };
  },
  select: (database, { company }) => selectPermissionSets(database, company.id),
  async save(tx, { company }, entries, { clock, nameErasers }) {
    const known = new Set((await selectPermissionSets(tx, company.id)).map(({ name }) => name));
    // People with a ready role have it under the same name, and keep the company's own.
    const names = entries
      .map(({ name }) => name)
      .filter((name) => !known.has(name) && !Object.hasOwn(READY_ROLES, name));
    if (names.length > 0) {
      const now = clock.now();
      for (const erase of nameErasers) await erase(tx, { kind: "permission_set", names }, now);
    }
    await upsertPermissionSets(tx, company.id, entries);
  },
  remove: (tx, { company }, entries) => deletePermissionSets(tx, company.id, entries),
});

/** The roles that come with Rapport, unless the company has a set of the same name. */
const permissionSets: typeof ownSets = {
  ...ownSets,
  view: {
    name: PermissionSet.properties.name,
    permissions: PermissionSet.properties.permissions,
    declared: Type.Boolean({ description: "Whether a manifest declared it." }),
    ready: Type.Boolean({
      description:
        "Whether it comes with Rapport. PUT replaces it with a set of your own; DELETE of that one brings it back.",
    }),
  },
  async read(database, context) {
    const own = await ownSets.read(database, context);
    const names = new Set(own.map(({ name }) => name));
    const ready = Object.entries(READY_ROLES).filter(([name]) => !names.has(name));
    return [
      ...ready.map(([name, permissions]) => ({ name, permissions, declared: false, ready: true })),
      ...own.map((set) => ({ ...set, ready: false })),
    ];
  },
  async remove(tx, services, context, { ready, ...entry }) {
    if (!ready) return (await ownSets.remove?.(tx, services, context, entry)) ?? [];
    throw new Problem(
      "CONFLICT",
      `The role '${entry.name}' comes with Rapport and cannot be removed.`,
    );
  },
};

const SIGN_IN = "sign_in";

const SignIn = ClosedObject(
  {
    local: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Whether people may sign in with invitations, passwords and passkeys while an identity provider is set up " +
          "(OIDC_ISSUER). Without one they always may.",
      }),
    ),
  },
  { description: "How people sign in to the dashboard." },
);

async function saveSignIn(
  tx: Transaction,
  { company }: CompanyContext,
  { local = false }: { readonly local?: boolean },
): Promise<ConfigChange[]> {
  const present = { local: await selectLocalSignIn(tx) };
  const todo = difference([present], [{ local }], () => SIGN_IN);
  if (todo.updated.length > 0) await upsertLocalSignIn(tx, company.id, local);
  return describe(
    SIGN_IN,
    "",
    todo,
    () => SIGN_IN,
    (entry) => entry,
  );
}

const signIn: Resource<CompanyContext> = {
  key: SIGN_IN,
  permissions: { read: "manage_company_settings", write: "admin" },
  schema: SignIn,
  apply: (tx, _services, context, declared: { readonly local?: boolean }) =>
    saveSignIn(tx, context, declared),
  async declaration(database) {
    return (await selectLocalSignIn(database)) ? { local: true } : undefined;
  },
  read: async (database) => [{ local: await selectLocalSignIn(database) }],
  put: (tx, _services, context, entry) => saveSignIn(tx, context, entry),
};

export const DASHBOARD_USER_RESOURCES: readonly Resource[] = [teams];

export const DASHBOARD_USER_COMPANY_RESOURCES: readonly Resource<CompanyContext>[] = [
  permissionSets,
  signIn,
];
