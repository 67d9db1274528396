import { createRoute } from "@tanstack/react-router";
import { ChartPie } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const list = createRoute({
  getParentRoute: () => workspace,
  path: "segments",
  component: pageOf(() => import("./segments.tsx"), "SegmentsPage"),
});

const one = createRoute({
  getParentRoute: () => workspace,
  path: "segments/$id",
  validateSearch: texts("event", "attribute", "product", "standard", "value", "filter"),
  component: pageOf(() => import("./segment.tsx"), "SegmentPage"),
});

const attribute = createRoute({
  getParentRoute: () => workspace,
  path: "catalogue/attribute",
  validateSearch: texts("name", "kind"),
  component: pageOf(() => import("./attribute.tsx"), "AttributePage"),
});

export const feature = {
  name: "segments",
  pages: [list, one, attribute],
  userFilter: pageOf(() => import("./user-filter.tsx"), "UserFilter"),
  navigation: [
    {
      under: "Data",
      place: 40,
      to: "/w/$workspace/segments",
      label: "Segments",
      icon: ChartPie,
      needs: ["basic_access"],
    },
  ],
} satisfies Feature;
