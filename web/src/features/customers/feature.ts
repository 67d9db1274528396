import { type Feature, page, pageOf } from "../../feature.ts";
import { PERIODS } from "./periods.ts";

const event = page("catalogue/event", () => import("./event.tsx"), "EventPage", ["name", "period"]);

export const feature = {
  name: "customers",
  pages: [event],
  overview: {
    place: 10,
    name: "customers",
    label: "Customers",
    about: "What your users do: activity, purchases and subscriptions.",
    period: "30",
    periods: PERIODS,
    component: pageOf(() => import("./customers.tsx"), "CustomersTab"),
  },
} satisfies Feature;
