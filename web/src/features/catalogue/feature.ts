import { createRoute } from "@tanstack/react-router";
import { BookOpen } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const page = createRoute({
  getParentRoute: () => workspace,
  path: "catalogue",
  validateSearch: texts("kind", "search"),
  component: pageOf(() => import("./catalogue.tsx"), "CataloguePage"),
});

export const feature = {
  name: "catalogue",
  pages: [page],
  navigation: [
    {
      under: "Data",
      place: 50,
      to: "/w/$workspace/catalogue",
      label: "Catalogue",
      icon: BookOpen,
      needs: ["basic_access"],
    },
  ],
} satisfies Feature;
