import { createRoute } from "@tanstack/react-router";
import { Webhook } from "lucide-react";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";

const list = createRoute({
  getParentRoute: () => workspace,
  path: "webhooks",
  component: pageOf(() => import("./webhooks.tsx"), "WebhooksPage"),
});

const one = createRoute({
  getParentRoute: () => workspace,
  path: "webhooks/$id",
  validateSearch: texts("open"),
  component: pageOf(() => import("./webhook.tsx"), "WebhookPage"),
});

export const feature = {
  name: "webhooks",
  pages: [list, one],
  navigation: [
    {
      under: "Data",
      place: 70,
      to: "/w/$workspace/webhooks",
      label: "Webhooks",
      icon: Webhook,
      needs: ["manage_external_integrations"],
    },
  ],
} satisfies Feature;
