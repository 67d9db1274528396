import { SlidersHorizontal } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const list = page("preference-centers", () => import("./centers.tsx"), "CentersPage");

const one = page("preference-centers/$id", () => import("./center.tsx"), "CenterPage");

export const feature = {
  name: "preference-centers",
  pages: [list, one],
  navigation: {
    under: "Preferences",
    place: 90,
    to: "/w/$workspace/preference-centers",
    label: "Preference centers",
    icon: SlidersHorizontal,
    needs: ["basic_access"],
  },
} satisfies Feature;
