import { createRoute } from "@tanstack/react-router";
import { type Feature, pageOf, root, texts } from "../../feature.ts";

const dashboardUser = createRoute({
  getParentRoute: () => root,
  path: "/company/dashboard-users/$id",
  component: pageOf(() => import("./dashboard-user.tsx"), "DashboardUserPage"),
});

/** How the signed-in person signs in. */
const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  validateSearch: texts("welcome"),
  component: pageOf(() => import("./account.tsx"), "AccountPage"),
});

export const feature = {
  name: "dashboard-users",
  companyPages: [dashboardUser, account],
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
      name: "roles",
      label: "Roles",
      needs: "manage_company_settings",
      component: pageOf(() => import("./roles.tsx"), "Roles"),
    },
  ],
} satisfies Feature;
