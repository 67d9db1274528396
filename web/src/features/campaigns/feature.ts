import { Megaphone } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const one = page("campaigns", () => import("./campaigns.tsx"), "CampaignsPage");

export const feature = {
  name: "campaigns",
  pages: [one],
  navigation: {
    under: "Messages",
    place: 100,
    to: "/w/$workspace/campaigns",
    label: "Campaigns",
    icon: Megaphone,
    needs: ["basic_access"],
  },
} satisfies Feature;
