import { createRoute } from "@tanstack/react-router";
import { DatabaseZap } from "lucide-react";
import { type Feature, pageOf, workspace } from "../../feature.ts";

const list = createRoute({
  getParentRoute: () => workspace,
  path: "syncs",
  component: pageOf(() => import("./syncs.tsx"), "SyncsPage"),
});

const one = createRoute({
  getParentRoute: () => workspace,
  path: "syncs/$id",
  component: pageOf(() => import("./sync.tsx"), "SyncPage"),
});

const run = createRoute({
  getParentRoute: () => workspace,
  path: "syncs/$id/runs/$run",
  component: pageOf(() => import("./run.tsx"), "RunPage"),
});

export const feature = {
  name: "warehouses",
  pages: [list, one, run],
  navigation: [
    {
      under: "Data",
      place: 60,
      to: "/w/$workspace/syncs",
      label: "Syncs",
      icon: DatabaseZap,
      needs: ["basic_access"],
    },
  ],
  companySettings: [
    {
      place: 40,
      name: "connections",
      label: "Connections",
      needs: "manage_company_settings",
      component: pageOf(() => import("./connections.tsx"), "Connections"),
    },
  ],
} satisfies Feature;
