import { createRoute } from "@tanstack/react-router";
import { type Feature, pageOf, root } from "../../feature.ts";

const dashboardUser = createRoute({
  getParentRoute: () => root,
  path: "/company/dashboard-users/$id",
  component: pageOf(() => import("./dashboard-user.tsx"), "DashboardUserPage"),
});

export const feature = {
  name: "dashboard-users",
  companyPages: [dashboardUser],
  settings: [
    {
      place: 30,
      name: "teams",
      label: "Teams",
      needs: "basic_access",
      component: pageOf(() => import("./teams.tsx"), "Teams"),
    },
  ],
  companySettings: [
    {
      place: 10,
      name: "dashboard-users",
      label: "Dashboard users",
      needs: "manage_company_settings",
      component: pageOf(() => import("./dashboard-users.tsx"), "DashboardUsers"),
    },
    {
      place: 30,
      name: "permission-sets",
      label: "Permission sets",
      needs: "manage_company_settings",
      component: pageOf(() => import("./permission-sets.tsx"), "PermissionSets"),
    },
  ],
} satisfies Feature;
