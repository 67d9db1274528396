import { engagementEndpoints } from "./engagement-endpoints.ts";
import { fileEndpoints } from "./file-endpoints.ts";
import { localeEndpoints } from "./locale-endpoints.ts";
import { messageEndpoints } from "./message-endpoints.ts";

/** Everything that the manifest says about translations, one resource at a time, and files. */
export const translationAdminEndpoints = [
  ...localeEndpoints,
  ...engagementEndpoints,
  ...messageEndpoints,
  ...fileEndpoints,
];
