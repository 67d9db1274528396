import type { Feature } from "../../core/feature.ts";
import type { CampaignExtension, MessageExtension } from "../campaigns/feature.ts";
import { messageTranslations } from "./declared-translations.ts";
import { translationEndpoints } from "./endpoints.ts";
import { translationFileEndpoints } from "./file-endpoints.ts";
import { locales } from "./locale-resource.ts";
import { messageTranslationEndpoints } from "./message-endpoints.ts";

export const feature = {
  name: "translations",
  endpoints: translationEndpoints,
  reference: [
    { tag: "Translations", paths: ["/campaign", "/canvases"] },
    { tag: "Campaign administration", paths: ["/admin/v1/workspaces/:name/locales"] },
  ],
  resources: [locales],
  extensions: {
    campaigns: {
      ofMessages: messageTranslations as MessageExtension,
      endpoints: [...messageTranslationEndpoints, ...translationFileEndpoints],
    } satisfies CampaignExtension,
  },
} satisfies Feature;
