import { createRoute } from "@tanstack/react-router";
import { SlidersHorizontal } from "lucide-react";
import { type Feature, pageOf, workspace } from "../../feature.ts";

const list = createRoute({
  getParentRoute: () => workspace,
  path: "preference-centers",
  component: pageOf(() => import("./centers.tsx"), "CentersPage"),
});

const one = createRoute({
  getParentRoute: () => workspace,
  path: "preference-centers/$id",
  component: pageOf(() => import("./center.tsx"), "CenterPage"),
});

export const feature = {
  name: "preference-centers",
  pages: [list, one],
  navigation: [
    {
      under: "Preferences",
      place: 90,
      to: "/w/$workspace/preference-centers",
      label: "Preference centers",
      icon: SlidersHorizontal,
      needs: ["basic_access"],
    },
  ],
} satisfies Feature;
