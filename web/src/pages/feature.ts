import { Bell, ChartLine } from "lucide-react";
import { type Feature, page, pageOf } from "../feature.ts";

const groups = page("groups", () => import("./groups/groups.tsx"), "GroupsPage");

/** The pages of the core. */
export const feature = {
  name: "core",
  pages: [groups],
  navigation: [
    {
      under: "Data",
      place: 10,
      to: "/w/$workspace/overview",
      label: "Overview",
      icon: ChartLine,
      needs: ["view_usage_data"],
    },
    {
      under: "Preferences",
      place: 80,
      to: "/w/$workspace/groups",
      label: "Subscription groups",
      icon: Bell,
      needs: ["basic_access"],
    },
  ],
  settings: [
    {
      place: 10,
      name: "keys",
      label: "API keys",
      needs: "dev_console",
      component: pageOf(() => import("./settings/keys.tsx"), "Keys"),
    },
    {
      place: 20,
      name: "apps",
      label: "Apps",
      needs: "basic_access",
      component: pageOf(() => import("./settings/apps.tsx"), "Apps"),
    },
    {
      place: 40,
      name: "brand",
      label: "Brand",
      needs: "basic_access",
      component: pageOf(() => import("./settings/brand.tsx"), "Brand"),
    },
    {
      place: 50,
      name: "limits",
      label: "Limits",
      needs: "basic_access",
      component: pageOf(() => import("./settings/limits.tsx"), "Limits"),
    },
    {
      place: 60,
      name: "manifest",
      label: "Manifest",
      needs: "admin",
      component: pageOf(() => import("./settings/manifest.tsx"), "Manifest"),
    },
  ],
  companySettings: [
    {
      place: 20,
      name: "scim-tokens",
      label: "SCIM tokens",
      needs: "manage_company_settings",
      component: pageOf(() => import("./settings/scim-tokens.tsx"), "ScimTokens"),
    },
    {
      place: 50,
      name: "audit",
      label: "Audit log",
      needs: "manage_company_settings",
      component: pageOf(() => import("./settings/audit.tsx"), "Audit"),
    },
    {
      place: 60,
      name: "workspaces",
      label: "Workspaces",
      needs: "add_remove_app_groups",
      component: pageOf(() => import("./company/workspaces.tsx"), "Workspaces"),
    },
  ],
} satisfies Feature;
