import { Users } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const list = page("users", () => import("./users.tsx"), "UsersPage", [
  "query",
  "identifier",
  "match",
  "sort",
  "filter",
]);

const one = page("users/$id", () => import("./user.tsx"), "UserPage", [
  "tab",
  "kind",
  "event",
  "from",
  "until",
  "find",
  "undo",
]);

export const feature = {
  name: "user-records",
  pages: [list, one],
  navigation: {
    under: "Data",
    place: 30,
    to: "/w/$workspace/users",
    label: "Users",
    icon: Users,
    needs: ["view_user_profile", "view_pii"],
  },
} satisfies Feature;
