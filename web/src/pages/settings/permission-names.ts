export { WORKSPACE_PERMISSIONS } from "../../../../src/dashboard-users/permission-names.ts";
