import { BookOpen } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const one = page("catalogue", () => import("./catalogue.tsx"), "CataloguePage", ["kind", "search"]);

export const feature = {
  name: "catalogue",
  pages: [one],
  navigation: {
    under: "Data",
    place: 50,
    to: "/w/$workspace/catalogue",
    label: "Catalogue",
    icon: BookOpen,
    needs: ["basic_access"],
  },
} satisfies Feature;
