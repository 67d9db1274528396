import type { JsonObject } from "../../../core/base/values/plain-json.ts";
import type {
  AppGroup,
  DeclaredWorkspace,
  Organisation,
  PermissionSet,
  Permissions,
  Team,
} from "../../dashboard-users/feature.ts";
import { scimProblem } from "./problems.ts";

/*
 * Permissions name workspaces (as app groups), their teams, and permission sets. They are stored by name;
 * reads add the current ids.
 */

type NamedEntry<Entry> = Partial<Entry> & JsonObject;

/**
 * Completes permissions, every list present. The names of permissions have been checked before.
 *
 * @throws Problem with `invalidValue` for a name that is not declared or is given twice.
 */
export function checkPermissions(
  { companyPermissions, appGroup }: NamedEntry<Permissions>,
  organisation: Organisation,
): Permissions {
  const groups = appGroup ?? [];
  refuseRepeated(groups, "appGroupName", "permissions.appGroup");
  return {
    companyPermissions: unique(companyPermissions),
    appGroup: groups.map((group, index) =>
      checkAppGroup(group, `permissions.appGroup[${index}]`, organisation),
    ),
  };
}

function checkAppGroup(
  { appGroupName, appGroupPermissions, team, appGroupPermissionSets }: NamedEntry<AppGroup>,
  place: string,
  { workspaces, permissionSets }: Organisation,
): AppGroup {
  const workspace = workspaces.get(appGroupName ?? "");
  if (!workspace || !appGroupName) throw unknownName(`${place}.appGroupName`, "workspace");
  const teams = (team ?? []).map((each: NamedEntry<Team>) => ({
    teamName: each.teamName ?? "",
    teamPermissions: unique(each.teamPermissions),
  }));
  const sets: readonly PermissionSet[] = appGroupPermissionSets ?? [];
  refuseUnknown(teams, "teamName", workspace.teams, `${place}.team`, "team of the workspace");
  refuseUnknown(
    sets,
    "appGroupPermissionSetName",
    permissionSets,
    `${place}.appGroupPermissionSets`,
    "permission set",
  );
  return {
    appGroupName,
    appGroupPermissions: unique(appGroupPermissions),
    team: teams,
    appGroupPermissionSets: sets,
  };
}

const unique = (names: readonly string[] | undefined): readonly string[] => [...new Set(names)];

function refuseUnknown<Entry extends JsonObject>(
  entries: readonly Entry[],
  key: keyof Entry & string,
  known: { has(name: string): boolean },
  place: string,
  what: string,
): void {
  refuseRepeated(entries, key, place);
  const index = entries.findIndex((each) => !known.has(String(each[key])));
  if (index >= 0) throw unknownName(`${place}[${index}].${key}`, what);
}

const unknownName = (place: string, what: string) =>
  scimProblem("invalidValue", `'${place}' does not name a declared ${what}`);

function refuseRepeated<Entry extends JsonObject>(
  entries: readonly Entry[],
  key: keyof Entry & string,
  place: string,
): void {
  const seen = new Set<unknown>();
  for (const [index, entry] of entries.entries()) {
    if (seen.has(entry[key])) {
      throw scimProblem("invalidValue", `'${place}[${index}].${key}' is given twice`);
    }
    seen.add(entry[key]);
  }
}

/** A user's permissions without workspaces, teams and sets that no longer exist. */
export const declaredPermissions = (
  { companyPermissions, appGroup }: Permissions,
  organisation: Organisation,
): Permissions => ({
  companyPermissions,
  appGroup: declaredGroups(appGroup, organisation).map(({ group }) => group),
});

/** The existing permissions in the form of a response, with the ids of workspaces and teams. */
export const permissionsView = (
  { companyPermissions, appGroup }: Permissions,
  organisation: Organisation,
): JsonObject => ({
  companyPermissions,
  appGroup: declaredGroups(appGroup, organisation).map(({ group, workspace }) => ({
    appGroupId: workspace.id,
    ...group,
    team: group.team.map((each) => ({ teamId: workspace.teams.get(each.teamName) ?? "", ...each })),
  })),
});

const declaredGroups = (
  groups: readonly AppGroup[],
  { workspaces, permissionSets }: Organisation,
): { readonly group: AppGroup; readonly workspace: DeclaredWorkspace }[] =>
  groups.flatMap((group) => {
    const workspace = workspaces.get(group.appGroupName);
    if (!workspace) return [];
    const team = group.team.filter((each) => workspace.teams.has(each.teamName));
    const appGroupPermissionSets = group.appGroupPermissionSets.filter((each) =>
      permissionSets.has(each.appGroupPermissionSetName),
    );
    return [{ group: { ...group, team, appGroupPermissionSets }, workspace }];
  });
