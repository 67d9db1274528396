import { createRoute } from "@tanstack/react-router";
import { ChartLine } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const page = createRoute({
  getParentRoute: () => workspace,
  path: "overview",
  validateSearch: texts("period"),
  component: pageOf(() => import("./overview.tsx"), "OverviewPage"),
});

export const feature = {
  name: "overview",
  pages: [page],
  navigation: [
    {
      under: "Data",
      place: 10,
      to: "/w/$workspace/overview",
      label: "Overview",
      icon: ChartLine,
      needs: ["view_usage_data"],
    },
  ],
} satisfies Feature;
