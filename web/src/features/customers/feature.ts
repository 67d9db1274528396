import { type Feature, pageOf } from "../../feature.ts";

export const feature = {
  name: "customers",
  overview: [
    {
      place: 10,
      name: "customers",
      label: "Customers",
      about: "What your users do: activity, purchases and subscriptions.",
      period: "30",
      periods: [
        { value: "7", label: "7 days" },
        { value: "30", label: "30 days" },
        { value: "90", label: "90 days" },
      ],
      component: pageOf(() => import("./customers.tsx"), "CustomersTab"),
    },
  ],
} satisfies Feature;
