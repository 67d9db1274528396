import type { Feature } from "../../core/feature.ts";
import { eraseCapturedCalls, RETAINED_CAPTURED_CALLS } from "./captured-calls.ts";
import { deleteCallsNaming } from "./captured-store.ts";
import { captureEndpoints } from "./endpoints.ts";
import { publicEndpoints } from "./public-endpoints.ts";

export const feature = {
  name: "capture",
  endpoints: captureEndpoints,
  unlisted: publicEndpoints,
  reset: { later: [eraseCapturedCalls] },
  erasure: [deleteCallsNaming],
  retained: [RETAINED_CAPTURED_CALLS],
} satisfies Feature;
