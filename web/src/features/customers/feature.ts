import { createRoute } from "@tanstack/react-router";
import { type Feature, pageOf, texts, workspace } from "../../feature.ts";
import { PERIODS } from "./periods.ts";

const event = createRoute({
  getParentRoute: () => workspace,
  path: "catalogue/event",
  validateSearch: texts("name", "period"),
  component: pageOf(() => import("./event.tsx"), "EventPage"),
});

export const feature = {
  name: "customers",
  pages: [event],
  overview: [
    {
      place: 10,
      name: "customers",
      label: "Customers",
      about: "What your users do: activity, purchases and subscriptions.",
      period: "30",
      periods: PERIODS,
      component: pageOf(() => import("./customers.tsx"), "CustomersTab"),
    },
  ],
} satisfies Feature;
