import { createRoute } from "@tanstack/react-router";
import { Activity } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const page = createRoute({
  getParentRoute: () => workspace,
  path: "requests",
  validateSearch: texts("status", "endpoint", "key", "user", "code", "open"),
  component: pageOf(() => import("./requests.tsx"), "RequestsPage"),
});

export const feature = {
  name: "live-requests",
  pages: [page],
  navigation: [
    {
      under: "Data",
      place: 20,
      to: "/w/$workspace/requests",
      label: "Live requests",
      icon: Activity,
      needs: ["dev_console"],
    },
  ],
} satisfies Feature;
