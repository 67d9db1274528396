import Type from "typebox";
import type { Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import type { JsonObject } from "../profiles/plain-json.ts";
import { listedSection } from "../workspaces/listed-section.ts";
import { Name } from "../workspaces/manifest.ts";
import {
  type Change,
  type CompanySection,
  type CompanyTarget,
  describe,
  difference,
  type Section,
  type SectionTarget,
} from "../workspaces/section.ts";
import {
  type DeclaredPermissionSet,
  type DeclaredTeam,
  deletePermissionSets,
  deleteTeams,
  insertTeams,
  selectDefaults,
  selectPermissionSets,
  selectTeams,
  upsertDefaults,
  upsertPermissionSets,
} from "./declared-store.ts";
import { DEPARTMENTS, WORKSPACE_PERMISSIONS } from "./permission-names.ts";
import type { Organisation } from "./protocol/directory.ts";
import { readDefaults } from "./protocol/read-user.ts";
import { selectOrganisation } from "./store.ts";

/* What the manifest says about dashboard users. The tokens themselves are the core's: workspaces/. */

const Team = Type.Object(
  {
    name: Name,
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Made where it is left out." }),
    ),
  },
  { additionalProperties: false },
);

/** One that is declared without an id gets one, and keeps it. */
const teams = listedSection<DeclaredTeam, SectionTarget>({
  key: "teams",
  about: "Teams of the workspace, which the permissions of dashboard users may name.",
  schema: Team,
  identity: "name",
  unique: "id",
  kind: "team",
  nameOf: (team) => team.name,
  complete({ name, id }: Partial<DeclaredTeam>, known, { newId }) {
    return { id: id ?? known?.id ?? newId(), name: name as string };
  },
  select: (database, { workspaceId }) => selectTeams(database, workspaceId),
  async save(tx, { workspaceId }, entries) {
    // All away first: ids may change hands.
    await deleteTeams(tx, workspaceId, entries);
    await insertTeams(tx, workspaceId, entries);
  },
  remove: (tx, { workspaceId }, entries) => deleteTeams(tx, workspaceId, entries),
});

const PermissionSet = Type.Object(
  {
    name: Name,
    permissions: Type.Optional(
      Type.Array(Type.Enum([...WORKSPACE_PERMISSIONS]), {
        description: "What whoever is given the set may do in a workspace.",
      }),
    ),
  },
  { additionalProperties: false },
);

const permissionSets = listedSection<DeclaredPermissionSet, CompanyTarget>({
  key: "permission_sets",
  about: "Permissions for a workspace under one name, which dashboard users may be given.",
  schema: PermissionSet,
  identity: "name",
  kind: "permission_set",
  nameOf: (set) => set.name,
  complete({ name, permissions }: Partial<DeclaredPermissionSet>) {
    return { name: name as string, permissions: permissions ?? [] };
  },
  select: (database, { companyId }) => selectPermissionSets(database, companyId),
  save: (tx, { companyId }, entries) => upsertPermissionSets(tx, companyId, entries),
  remove: (tx, { companyId }, entries) => deletePermissionSets(tx, companyId, entries),
});

const ScimDefaults = Type.Object(
  {
    department: Type.Optional(
      Type.Enum([...DEPARTMENTS], { description: "One of the departments that SCIM knows." }),
    ),
    permissions: Type.Optional(
      Type.Object({}, { description: "As a SCIM body has them: companyPermissions, appGroup." }),
    ),
  },
  {
    additionalProperties: false,
    description: "What dashboard users get whose identity provider cannot say it.",
  },
);

async function applyDefaults(
  tx: Transaction,
  { companyId }: CompanyTarget,
  declared: JsonObject,
): Promise<Change[]> {
  const organisation = await selectOrganisation(tx, companyId);
  const wanted = checkDefaults(declared, organisation);
  const present = (await selectDefaults(tx, companyId)) ?? {};
  const todo = difference([present], [wanted], () => "scim_defaults");
  if (todo.updated.length > 0) await upsertDefaults(tx, companyId, wanted);
  return describe(
    "scim_defaults",
    "",
    todo,
    () => "scim_defaults",
    () => ({ ...wanted }),
  );
}

const scimDefaults: CompanySection = {
  key: "scim_defaults",
  schema: ScimDefaults,
  apply: (tx, target, declared: JsonObject) => applyDefaults(tx, target, declared),
  resource: {
    read: async (database, { companyId }) => [{ ...(await selectDefaults(database, companyId)) }],
    put: (tx, target, declared) => applyDefaults(tx, target, declared as JsonObject),
  },
};

function checkDefaults(declared: JsonObject, organisation: Organisation) {
  try {
    return readDefaults(declared, organisation);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const path = ["scim_defaults"];
    throw new Problem(error.code, `scim_defaults: ${error.message}`, { body: { path } });
  }
}

export const SCIM_SECTIONS: readonly Section[] = [teams];

/** The sets come before the defaults, which may name them. */
export const SCIM_COMPANY_SECTIONS: readonly CompanySection[] = [permissionSets, scimDefaults];
