import {
  COMPANY_PERMISSIONS,
  type CompanyPermission,
  READY_ROLES,
  WORKSPACE_PERMISSIONS,
  type WorkspacePermission,
} from "../../core/base/context/dashboard-permissions.ts";
import type { DashboardPerson } from "../../core/base/context/person.ts";
import type { UserAttributes } from "./dashboard-user.ts";

export type PermissionSets = Readonly<Record<string, readonly string[]>>;

/** A person who signed in with the admin token. */
export const ADMINISTRATOR: DashboardPerson = {
  userId: null,
  userName: "administrator",
  displayName: "Administrator",
  isAdministrator: true,
  companyPermissions: new Set(COMPANY_PERMISSIONS),
  workspacePermissions: new Map(),
};

/**
 * A dashboard user as a person who is signed in. In each workspace they have their own permissions
 * and those of their permission sets; `admin` includes all others. docs/dashboard.md
 */
export function personOf(
  userId: string,
  attributes: UserAttributes,
  sets: PermissionSets,
): DashboardPerson {
  const { companyPermissions, appGroup } = attributes.permissions;
  const ofCompany = known(companyPermissions, COMPANY_PERMISSIONS);
  return {
    userId,
    userName: attributes.userName,
    displayName: displayNameOf(attributes),
    isAdministrator: ofCompany.has("admin"),
    companyPermissions: ofCompany,
    workspacePermissions: new Map(
      appGroup.map(({ appGroupName, appGroupPermissions, appGroupPermissionSets }) => {
        const ofSets = appGroupPermissionSets.flatMap(({ appGroupPermissionSetName: name }) =>
          setNamed(name, sets),
        );
        return [appGroupName, known([...appGroupPermissions, ...ofSets], WORKSPACE_PERMISSIONS)];
      }),
    ),
  };
}

const setNamed = (name: string, sets: PermissionSets): readonly string[] => {
  if (Object.hasOwn(sets, name)) return sets[name] ?? [];
  return Object.hasOwn(READY_ROLES, name) ? (READY_ROLES[name] ?? []) : [];
};

/** Whether a person has every permission that another one has. */
export function covers(person: DashboardPerson, other: DashboardPerson): boolean {
  if (person.isAdministrator) return true;
  if (other.isAdministrator) return false;
  const has = <Name>(held: ReadonlySet<Name> | undefined, wanted: ReadonlySet<Name>) =>
    [...wanted].every((name) => held?.has(name));
  return (
    has(person.companyPermissions, other.companyPermissions) &&
    [...other.workspacePermissions].every(([workspace, wanted]) =>
      has(person.workspacePermissions.get(workspace), wanted),
    )
  );
}

/** What a user is granted, by name: permissions in the company and the workspaces, and permission sets. */
export function grantsOf({ permissions }: UserAttributes): ReadonlySet<string> {
  return new Set([
    ...permissions.companyPermissions,
    ...permissions.appGroup.flatMap(({ appGroupName, ...group }) => [
      ...group.appGroupPermissions.map((name) => JSON.stringify([appGroupName, name])),
      ...group.appGroupPermissionSets.map(({ appGroupPermissionSetName }) =>
        JSON.stringify([appGroupName, "set", appGroupPermissionSetName]),
      ),
    ]),
  ]);
}

/** `admin` includes every permission of its kind. */
function known<Name extends CompanyPermission | WorkspacePermission>(
  names: readonly string[],
  all: readonly Name[],
): ReadonlySet<Name> {
  if (names.includes("admin")) return new Set(all);
  return new Set(all.filter((name) => names.includes(name)));
}

function displayNameOf(attributes: UserAttributes): string {
  const { displayName, name, userName } = attributes as UserAttributes & {
    readonly displayName?: unknown;
    readonly name?: { readonly givenName?: unknown; readonly familyName?: unknown };
  };
  if (typeof displayName === "string" && displayName !== "") return displayName;
  const parts = [name?.givenName, name?.familyName].filter((part) => typeof part === "string");
  return parts.join(" ").trim() || userName;
}
