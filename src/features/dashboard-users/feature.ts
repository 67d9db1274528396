import type { Clock } from "../../core/base/clock.ts";
import type { Database } from "../../core/database/database.ts";
import type { Feature } from "../../core/feature.ts";
import { colleaguesAmong } from "./manage-users.ts";
import { rekeyUsers } from "./rekey-users.ts";
import { DASHBOARD_USER_COMPANY_RESOURCES, DASHBOARD_USER_RESOURCES } from "./resources.ts";
import { createSessions, type SessionSettings } from "./sessions.ts";
import { deleteExpiredSessions } from "./sessions-store.ts";
import { upgradeEndpoints } from "./upgrade-endpoints.ts";

export {
  type AppGroup,
  type Comparator,
  type DeclaredWorkspace,
  type Organisation,
  type PermissionSet,
  type Permissions,
  type Team,
  type User,
  type UserAttributes,
  type UserCondition,
  type UserPage,
  type UserQuery,
  type UserTest,
  userNameKey,
  writtenKey,
} from "./dashboard-user.ts";
export { DEPARTMENTS } from "./departments.ts";
export { ADMINISTRATOR } from "./effective-permissions.ts";
export { withdrawPermissions, withoutWorkspace } from "./forget-workspace.ts";
export {
  changeUser,
  createUser,
  findUser,
  listUsers,
  readOrganisation,
  removeUser,
  searchPeople,
  signOutUser,
  type UserServices,
} from "./manage-users.ts";
export { countUserNames } from "./punycode-users.ts";
export { findActiveUser, type Sessions, type StartedSession } from "./sessions.ts";

interface Given {
  readonly database: Database;
  readonly clock: Clock;
  readonly adminTokenHash: string;
}

export const feature = {
  name: "dashboard-users",
  endpoints: upgradeEndpoints,
  reference: [
    {
      tag: "Team administration",
      paths: ["/admin/v1/workspaces/:name/teams", "/admin/v1/permission-sets"],
    },
  ],
  resources: DASHBOARD_USER_RESOURCES,
  companyResources: DASHBOARD_USER_COMPANY_RESOURCES,
  services: ({ adminTokenHash, ...stored }: Given, settings: SessionSettings) => ({
    sessions: createSessions(stored, adminTokenHash, settings),
  }),
  migrationSteps: [rekeyUsers],
  sweeps: [deleteExpiredSessions],
  colleaguesAmong,
} satisfies Feature;
