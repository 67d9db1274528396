/*
 * The features that have pages. To take one out, remove its line and its folder. ARCHITECTURE.md
 */
export { feature as campaigns } from "./features/campaigns/feature.ts";
export { feature as catalogue } from "./features/catalogue/feature.ts";
export { feature as customers } from "./features/customers/feature.ts";
export { feature as dashboardUsers } from "./features/dashboard-users/feature.ts";
export { feature as liveRequests } from "./features/live-requests/feature.ts";
export { feature as overview } from "./features/overview/feature.ts";
export { feature as preferenceCenters } from "./features/preference-centers/feature.ts";
export { feature as segments } from "./features/segments/feature.ts";
export { feature as translations } from "./features/translations/feature.ts";
export { feature as userRecords } from "./features/user-records/feature.ts";
export { feature as warehouses } from "./features/warehouses/feature.ts";
export { feature as webhooks } from "./features/webhooks/feature.ts";
export { feature as core } from "./pages/feature.ts";
