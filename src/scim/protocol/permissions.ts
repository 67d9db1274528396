import type { JsonObject } from "../../profiles/plain-json.ts";
import type { AppGroup, Organisation, PermissionSet, Permissions, Team } from "./directory.ts";
import { scimProblem } from "./problems.ts";

/*
 * Permissions name what the manifest declares: app groups are workspaces, with their teams, and permission
 * sets. They are kept by name; the ids that answers show are looked up when a user is read.
 */

type Named<Entry> = Partial<Entry> & JsonObject;

/**
 * Permissions in full, every list there; names of permissions have been checked before.
 *
 * @throws Problem with `invalidValue` for a name that is not declared, or that stands there twice.
 */
export function checkPermissions(
  { companyPermissions, appGroup }: Named<Permissions>,
  organisation: Organisation,
): Permissions {
  const groups = appGroup ?? [];
  refuseTwice(groups, "appGroupName", "permissions.appGroup");
  return {
    companyPermissions: unique(companyPermissions),
    appGroup: groups.map((group, index) =>
      checkAppGroup(group, `permissions.appGroup[${index}]`, organisation),
    ),
  };
}

function checkAppGroup(
  { appGroupName, appGroupPermissions, team, appGroupPermissionSets }: Named<AppGroup>,
  place: string,
  { workspaces, permissionSets }: Organisation,
): AppGroup {
  const workspace = workspaces.find((each) => each.name === appGroupName);
  if (!workspace || !appGroupName) throw unknownName(`${place}.appGroupName`, "workspace");
  const teamNames = workspace.teams.map((each) => each.name);
  const teams = (team ?? []).map((each: Named<Team>) => ({
    teamName: each.teamName ?? "",
    teamPermissions: unique(each.teamPermissions),
  }));
  const sets: readonly PermissionSet[] = appGroupPermissionSets ?? [];
  refuseUnknown(teams, "teamName", teamNames, `${place}.team`, "team of the workspace");
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
  known: readonly string[],
  place: string,
  what: string,
): void {
  refuseTwice(entries, key, place);
  const index = entries.findIndex((each) => !known.includes(String(each[key])));
  if (index >= 0) throw unknownName(`${place}[${index}].${key}`, what);
}

const unknownName = (place: string, what: string) =>
  scimProblem("invalidValue", `'${place}' names no ${what} that is declared`);

function refuseTwice<Entry extends JsonObject>(
  entries: readonly Entry[],
  key: keyof Entry & string,
  place: string,
): void {
  const names = entries.map((each) => each[key]);
  const index = names.findIndex((name, place) => names.indexOf(name) !== place);
  if (index < 0) return;
  throw scimProblem("invalidValue", `'${place}[${index}].${key}' stands there twice`);
}

/** What of somebody's permissions is still declared. */
export function declaredPermissions(
  { companyPermissions, appGroup }: Permissions,
  { workspaces, permissionSets }: Organisation,
): Permissions {
  const groups = appGroup.flatMap((group): AppGroup[] => {
    const workspace = workspaces.find((each) => each.name === group.appGroupName);
    if (!workspace) return [];
    const teams = new Set(workspace.teams.map((each) => each.name));
    return [
      {
        ...group,
        team: group.team.filter((each) => teams.has(each.teamName)),
        appGroupPermissionSets: group.appGroupPermissionSets.filter((each) =>
          permissionSets.includes(each.appGroupPermissionSetName),
        ),
      },
    ];
  });
  return { companyPermissions, appGroup: groups };
}

/** Permissions as an answer shows them: what is declared, with the ids of workspaces and teams. */
export function permissionsView(permissions: Permissions, organisation: Organisation): JsonObject {
  const { companyPermissions, appGroup } = declaredPermissions(permissions, organisation);
  return {
    companyPermissions,
    appGroup: appGroup.map((group) => {
      const workspace = organisation.workspaces.find((each) => each.name === group.appGroupName);
      const idOf = (name: string) => workspace?.teams.find((each) => each.name === name)?.id ?? "";
      const team = group.team.map((each) => ({ teamId: idOf(each.teamName), ...each }));
      return { appGroupId: workspace?.id ?? "", ...group, team };
    }),
  };
}
