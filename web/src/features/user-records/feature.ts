import { createRoute } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const list = createRoute({
  getParentRoute: () => workspace,
  path: "users",
  validateSearch: texts("query", "identifier", "match", "sort", "filter"),
  component: pageOf(() => import("./users.tsx"), "UsersPage"),
});

const one = createRoute({
  getParentRoute: () => workspace,
  path: "users/$id",
  validateSearch: texts("tab", "kind", "event", "from", "until", "find", "undo"),
  component: pageOf(() => import("./user.tsx"), "UserPage"),
});

export const feature = {
  name: "user-records",
  pages: [list, one],
  navigation: [
    {
      under: "Data",
      place: 30,
      to: "/w/$workspace/users",
      label: "Users",
      icon: Users,
      needs: ["view_user_profile", "view_pii"],
    },
  ],
} satisfies Feature;
