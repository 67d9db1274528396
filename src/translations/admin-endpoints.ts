import { fileEndpoints } from "./file-endpoints.ts";
import { localeEndpoints } from "./locale-endpoints.ts";
import { messageTranslationEndpoints } from "./message-endpoints.ts";

/** Locales, messages with their translations, and files of them. */
export const translationAdminEndpoints = [
  ...localeEndpoints,
  ...messageTranslationEndpoints,
  ...fileEndpoints,
];
