import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { deleteExpiredChallenges } from "./credentials-store.ts";
import { deleteExpiredLinks } from "./links-store.ts";
import { colleaguesAmong } from "./manage-users.ts";
import { rekeyUsers } from "./punycode-users.ts";
import { DASHBOARD_USER_COMPANY_RESOURCES, DASHBOARD_USER_RESOURCES } from "./resources.ts";
import { createSessions, type SessionSettings } from "./sessions.ts";
import { deleteExpiredSessions } from "./sessions-store.ts";
import { selectUserNames } from "./store.ts";
import { upgradeEndpoints } from "./upgrade-endpoints.ts";

export {
  deletePasskey as removePasskey,
  deletePassword as removePassword,
  insertAnsweredChallenge as saveAnsweredChallenge,
  insertPasskey as addPasskey,
  selectLocalSignIn as readLocalSignIn,
  selectPasskey as findPasskey,
  selectPasskeysOf as listPasskeys,
  selectPassword as readPassword,
  selectPasswordOfName as findPasswordOf,
  updatePasskeyUse as savePasskeyUse,
  upsertPassword as savePassword,
} from "./credentials-store.ts";
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
export { ADMINISTRATOR, covers, personOf } from "./effective-permissions.ts";
export { withdrawPermissions, withoutNames } from "./forget-names.ts";
export {
  deleteInvitations as endInvitations,
  deleteLink as takeLink,
  insertLink as saveLink,
  selectInvitation as findInvitation,
  selectLink as findLink,
} from "./links-store.ts";
export {
  changeUser,
  createUser,
  endCredentials,
  findUser,
  listUsers,
  readOrganisation,
  removeUser,
  searchPeople,
  signOutUser,
  type UserServices,
} from "./manage-users.ts";
export { countUserNames } from "./punycode-users.ts";
export { findActiveUser, type Sessions, type SignInWay, type StartedSession } from "./sessions.ts";
export {
  deleteOtherSessions as endOtherSessions,
  type ListedSession,
  lockActiveUser,
  lockSignedIn,
} from "./sessions-store.ts";

interface Given extends StoringServices {
  readonly adminTokenHashes: readonly string[];
}

export const feature = {
  name: "dashboard-users",
  endpoints: upgradeEndpoints,
  reference: [
    {
      tag: "Team administration",
      paths: ["/admin/v1/workspaces/:name/teams", "/admin/v1/permission-sets", "/admin/v1/sign-in"],
    },
  ],
  resources: DASHBOARD_USER_RESOURCES,
  companyResources: DASHBOARD_USER_COMPANY_RESOURCES,
  services: ({ adminTokenHashes, ...stored }: Given, settings: SessionSettings) => ({
    sessions: createSessions(stored, adminTokenHashes, settings),
  }),
  migrationSteps: [rekeyUsers],
  sweeps: [deleteExpiredSessions, deleteExpiredLinks, deleteExpiredChallenges],
  colleaguesAmong,
  namesOfColleagues: selectUserNames,
} satisfies Feature;
