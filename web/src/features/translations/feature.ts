import { Languages } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const one = page("translations", () => import("./translations.tsx"), "TranslationsPage", [
  "tab",
  "message",
  "find",
  "show",
  "locale",
]);

export const feature = {
  name: "translations",
  pages: [one],
  navigation: {
    under: "Messages",
    place: 110,
    to: "/w/$workspace/translations",
    label: "Translations",
    icon: Languages,
    needs: ["basic_access"],
  },
} satisfies Feature;
