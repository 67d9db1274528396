import { createRoute } from "@tanstack/react-router";
import { Megaphone } from "lucide-react";
import { type Feature, pageOf, workspace } from "../../feature.ts";

const page = createRoute({
  getParentRoute: () => workspace,
  path: "campaigns",
  component: pageOf(() => import("./campaigns.tsx"), "CampaignsPage"),
});

export const feature = {
  name: "campaigns",
  pages: [page],
  navigation: [
    {
      under: "Messages",
      place: 100,
      to: "/w/$workspace/campaigns",
      label: "Campaigns",
      icon: Megaphone,
      needs: ["basic_access"],
    },
  ],
} satisfies Feature;
