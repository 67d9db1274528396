import { selectAllEvents, selectAllPurchases } from "./export-store.ts";

export type { ExportedEvent, ExportedPurchase } from "./export-store.ts";

/** All events of a workspace with the names of their users, in portions. */
export const readAllEvents: (
  ...of: Parameters<typeof selectAllEvents>
) => ReturnType<typeof selectAllEvents> = selectAllEvents;

/** All purchases of a workspace with the names of their users, in portions. */
export const readAllPurchases: (
  ...of: Parameters<typeof selectAllPurchases>
) => ReturnType<typeof selectAllPurchases> = selectAllPurchases;
