import { type Feature, pageOf } from "../../feature.ts";

export const feature = {
  name: "overview",
  overview: {
    place: 20,
    name: "server",
    label: "Server",
    about: "Incoming requests, how fast they are answered, and what needs attention.",
    period: "hour",
    periods: [
      { value: "hour", label: "Last hour" },
      { value: "day", label: "Last day" },
    ],
    component: pageOf(() => import("./server.tsx"), "ServerTab"),
  },
} satisfies Feature;
