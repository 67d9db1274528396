import type { CenterTranslations } from "./center.ts";
import texts from "./default-texts.json" with { type: "json" };

/** The texts of the default pages in other languages than English, by the ids of their translation tags. */
export const DEFAULT_TEXTS: CenterTranslations = texts;
