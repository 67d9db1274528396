import { auditEndpoints } from "./audit/endpoints.ts";
import { exportEndpoints } from "./export/endpoints.ts";
import { healthEndpoints } from "./health/endpoints.ts";
import { deleteAllAnswers } from "./http/store.ts";
import { deleteAllProfiles } from "./profiles/store.ts";
import { eraseSubscriptions } from "./subscriptions/states.ts";
import { trackEndpoints } from "./track/endpoints.ts";
import { deleteAllEventsAndPurchases } from "./track/store.ts";
import { apiKeyEndpoints } from "./workspaces/api-key-endpoints.ts";
import { workspaceEndpoints } from "./workspaces/endpoints.ts";
import type { Eraser } from "./workspaces/reset.ts";
import type { Section } from "./workspaces/section.ts";
import { CORE_SECTIONS } from "./workspaces/sections.ts";

/* The one list of what the server consists of. A new facility is entered here and nowhere else. */

/** Every endpoint. */
export const ENDPOINTS = [
  ...healthEndpoints,
  ...trackEndpoints,
  ...exportEndpoints,
  ...workspaceEndpoints,
  ...apiKeyEndpoints,
  ...auditEndpoints,
];

/** Every list that a workspace may have in a manifest. */
export const SECTIONS: readonly Section[] = [...CORE_SECTIONS];

/** What a reset empties: one for every facility that holds user data. */
export const ERASERS: readonly Eraser[] = [
  eraseSubscriptions,
  deleteAllEventsAndPurchases,
  deleteAllProfiles,
  deleteAllAnswers,
];
