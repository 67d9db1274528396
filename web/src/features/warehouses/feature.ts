import { DatabaseZap } from "lucide-react";
import { type Feature, page, pageOf } from "../../feature.ts";

const list = page("syncs", () => import("./syncs.tsx"), "SyncsPage");

const one = page("syncs/$id", () => import("./sync.tsx"), "SyncPage");

const run = page("syncs/$id/runs/$run", () => import("./run.tsx"), "RunPage");

export const feature = {
  name: "warehouses",
  pages: [list, one, run],
  navigation: {
    under: "Data",
    place: 60,
    to: "/w/$workspace/syncs",
    label: "Syncs",
    icon: DatabaseZap,
    needs: ["basic_access"],
  },
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
