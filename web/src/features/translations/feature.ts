import { createRoute } from "@tanstack/react-router";
import { Languages } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const page = createRoute({
  getParentRoute: () => workspace,
  path: "translations",
  validateSearch: texts("tab", "message", "find", "show", "locale"),
  component: pageOf(() => import("./translations.tsx"), "TranslationsPage"),
});

export const feature = {
  name: "translations",
  pages: [page],
  navigation: [
    {
      under: "Messages",
      place: 110,
      to: "/w/$workspace/translations",
      label: "Translations",
      icon: Languages,
      needs: ["basic_access"],
    },
  ],
} satisfies Feature;
