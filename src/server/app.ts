/*
 * What the server consists of: the list of its parts. A feature has one entry here, and nothing else in src/ names it;
 * web/src/features.ts lists those with pages. Nothing is loaded until it is used: `rapport --help` reads this list for the
 * commands.
 */

const core = () => import("./core-parts.ts");

/** Every part, in the order of the reference. */
export const PARTS = {
  health: { load: async () => ({ feature: (await core()).health }) },
  track: { load: async () => ({ feature: (await core()).track }) },
  identity: { load: async () => ({ feature: (await core()).identity }) },
  import: {
    load: () => import("../features/import/feature.ts"),
    commands: () => import("../features/import/commands.ts"),
  },
  export: {
    load: () => import("../features/export/feature.ts"),
    commands: () => import("../features/export/commands.ts"),
  },
  "user-records": {
    load: () => import("../features/user-records/feature.ts"),
    commands: () => import("../features/user-records/commands.ts"),
  },
  undo: {
    load: () => import("../features/undo/feature.ts"),
    commands: () => import("../features/undo/commands.ts"),
  },
  subscriptions: { load: async () => ({ feature: (await core()).subscriptions }) },
  catalogue: { load: () => import("../features/catalogue/feature.ts") },
  changes: { load: async () => ({ feature: (await core()).changes }) },
  segments: {
    load: () => import("../features/segments/feature.ts"),
    commands: () => import("../features/segments/commands.ts"),
  },
  webhooks: {
    load: () => import("../features/webhooks/feature.ts"),
    commands: () => import("../features/webhooks/commands.ts"),
  },
  warehouses: {
    load: () => import("../features/warehouses/feature.ts"),
    commands: () => import("../features/warehouses/commands.ts"),
  },
  scim: { load: () => import("../features/scim/feature.ts") },
  "dashboard-users": { load: () => import("../features/dashboard-users/feature.ts") },
  liquid: { load: () => import("../features/liquid/feature.ts") },
  translations: { load: () => import("../features/translations/feature.ts") },
  campaigns: { load: () => import("../features/campaigns/feature.ts") },
  "preference-centers": { load: () => import("../features/preference-centers/feature.ts") },
  workspaces: { load: async () => ({ feature: (await core()).workspaces }) },
  administered: { load: async () => ({ feature: (await core()).administered }) },
  access: { load: async () => ({ feature: (await core()).access }) },
  backup: { load: () => import("../features/backup/feature.ts") },
  secrets: { load: async () => ({ feature: (await core()).secrets }) },
  capture: { load: () => import("../features/capture/feature.ts") },
  "sign-in": {
    load: () => import("../features/sign-in/feature.ts"),
    commands: () => import("../features/sign-in/commands.ts"),
  },
  "live-requests": {
    load: () => import("../features/live-requests/feature.ts"),
    commands: () => import("../features/live-requests/commands.ts"),
  },
  overview: { load: () => import("../features/overview/feature.ts") },
  customers: { load: () => import("../features/customers/feature.ts") },
  demo: {
    load: () => import("../features/demo/feature.ts"),
    commands: () => import("../features/demo/commands.ts"),
  },
} as const;

/**
 * The order in which a manifest applies resources, by their keys. What an entry refers to comes before it: mail domains
 * before everything that mails, connections before the integrations that read through them, locales before the messages that are
 * translated into them, groups before preference centers, segments before webhooks. A resource that is not listed comes last.
 */
export const APPLIED: readonly string[] = [
  // Of the company
  "mail_domains",
  "connections",
  "scim_tokens",
  "permission_sets",
  "scim_defaults",
  "sign_in",
  // Of a workspace
  "api_keys",
  "apps",
  "subscription_groups",
  "integrations",
  "teams",
  "locales",
  "campaigns",
  "canvases",
  "preference_centers",
  "segments",
  "webhooks",
];

type Part<Name extends keyof typeof PARTS> = Awaited<
  ReturnType<(typeof PARTS)[Name]["load"]>
>["feature"];

type OwnOf<Each> = Each extends { readonly services: (...given: never) => infer Own }
  ? Awaited<Own>
  : never;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** The services that parts have of their own. */
export type OwnServices = Intersection<OwnOf<Part<keyof typeof PARTS>>>;
