import { ChartPie } from "lucide-react";
import { type Feature, page, pageOf } from "../../feature.ts";

const list = page("segments", () => import("./segments.tsx"), "SegmentsPage");

const one = page("segments/$id", () => import("./segment.tsx"), "SegmentPage", [
  "event",
  "attribute",
  "product",
  "standard",
  "value",
  "filter",
]);

const attribute = page("catalogue/attribute", () => import("./attribute.tsx"), "AttributePage", [
  "name",
  "kind",
]);

export const feature = {
  name: "segments",
  pages: [list, one, attribute],
  userFilter: pageOf(() => import("./user-filter.tsx"), "UserFilter"),
  navigation: {
    under: "Data",
    place: 40,
    to: "/w/$workspace/segments",
    label: "Segments",
    icon: ChartPie,
    needs: ["basic_access"],
  },
} satisfies Feature;
