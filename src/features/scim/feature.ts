import type { Feature } from "../../core/feature.ts";
import { dashboardUserAdminEndpoints } from "./admin-endpoints.ts";
import { scimEndpoints } from "./endpoints.ts";
import { forgetNamesOfUsers, forgetWorkspaceOfUsers } from "./forget-names.ts";
import { scimDefaults } from "./resources.ts";

export const feature = {
  name: "scim",
  endpoints: [...scimEndpoints, ...dashboardUserAdminEndpoints],
  reference: [
    { tag: "Dashboard users", paths: ["/scim"] },
    { tag: "Team administration", paths: ["/admin/v1/dashboard-users", "/admin/v1/scim-defaults"] },
  ],
  companyResources: [scimDefaults],
  deletion: { later: [forgetWorkspaceOfUsers] },
  nameEraser: forgetNamesOfUsers,
} satisfies Feature;
