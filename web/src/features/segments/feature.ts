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
  validateSearch: texts("event", "attribute", "product"),
  component: pageOf(() => import("./segment.tsx"), "SegmentPage"),
});

export const feature = {
  name: "segments",
  pages: [list, one],
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
