import { Webhook } from "lucide-react";
import { type Feature, page } from "../../feature.ts";

const list = page("webhooks", () => import("./webhooks.tsx"), "WebhooksPage");

const one = page("webhooks/$id", () => import("./webhook.tsx"), "WebhookPage", ["open"]);

export const feature = {
  name: "webhooks",
  pages: [list, one],
  navigation: {
    under: "Data",
    place: 70,
    to: "/w/$workspace/webhooks",
    label: "Webhooks",
    icon: Webhook,
    needs: ["manage_external_integrations"],
  },
} satisfies Feature;
