import { Activity } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const one = page("requests", () => import("./requests.tsx"), "RequestsPage", [
  "status",
  "endpoint",
  "key",
  "user",
  "code",
  "open",
]);

export const feature = {
  name: "live-requests",
  pages: [one],
  navigation: {
    under: "Data",
    place: 20,
    to: "/w/$workspace/requests",
    label: "Live requests",
    icon: Activity,
    needs: ["dev_console"],
  },
} satisfies Feature;
