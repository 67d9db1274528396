import Type, { type Static } from "typebox";
import { Problem } from "../problem.ts";
import type { JsonObject } from "../profiles/plain-json.ts";
import { refuseDuplicates } from "../workspaces/manifest.ts";
import { type CompanySection, describe, difference, type Section } from "../workspaces/section.ts";
import {
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

const Name = Type.String({ minLength: 1, maxLength: 255 });

const Team = Type.Object({ name: Name, id: Type.Optional(Name) }, { additionalProperties: false });

/** Teams of a workspace. One that is declared without an id gets one, and keeps it. */
const teams: Section = {
  key: "teams",
  schema: Team,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof Team>[]) {
    const present = await selectTeams(tx, target.workspaceId);
    const wanted = entries.map(({ name, id }) => {
      const known = present.find((each) => each.name === name);
      return { id: id ?? known?.id ?? target.newId(), name };
    });
    refuseDuplicates(wanted, "id", ["teams"]);
    const todo = difference(present, wanted, (team) => team.name);
    await deleteTeams(tx, target.workspaceId, [...todo.removed, ...todo.updated]);
    await insertTeams(tx, target.workspaceId, [...todo.created, ...todo.updated]);
    return describe("team", target.workspaceName, todo, (team) => team.name);
  },
};

const PermissionSet = Type.Object(
  { name: Name, permissions: Type.Optional(Type.Array(Type.Enum([...WORKSPACE_PERMISSIONS]))) },
  { additionalProperties: false },
);

/** Permissions for a workspace under one name. */
const permissionSets: CompanySection = {
  key: "permission_sets",
  schema: PermissionSet,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof PermissionSet>[]) {
    const wanted = entries.map(({ name, permissions = [] }) => ({ name, permissions }));
    const present = await selectPermissionSets(tx, target.companyId);
    const todo = difference(present, wanted, (set) => set.name);
    await deletePermissionSets(tx, target.companyId, todo.removed);
    await upsertPermissionSets(tx, target.companyId, [...todo.created, ...todo.updated]);
    return describe("permission_set", "", todo, (set) => set.name);
  },
};

const ScimDefaults = Type.Object(
  {
    department: Type.Optional(Type.Enum([...DEPARTMENTS])),
    permissions: Type.Optional(Type.Object({})),
  },
  { additionalProperties: false },
);

/** What users get whose identity provider cannot say it, in the words of a SCIM body. */
const scimDefaults: CompanySection = {
  key: "scim_defaults",
  schema: ScimDefaults,
  async apply(tx, target, declared: Static<typeof ScimDefaults>) {
    const organisation = await selectOrganisation(tx, target.companyId);
    const wanted = checkDefaults(declared as JsonObject, organisation);
    const present = (await selectDefaults(tx, target.companyId)) ?? {};
    const todo = difference([present], [wanted], () => "scim_defaults");
    if (todo.updated.length > 0) await upsertDefaults(tx, target.companyId, wanted);
    return describe("scim_defaults", "", todo, () => "scim_defaults");
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
