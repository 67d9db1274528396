import type { CenterTranslations } from "./center.ts";
import { ASIAN } from "./default-texts/asian.ts";
import { EASTERN } from "./default-texts/eastern.ts";
import { NORTHERN } from "./default-texts/northern.ts";
import { RIGHT_TO_LEFT } from "./default-texts/right-to-left.ts";
import { ROMANCE } from "./default-texts/romance.ts";

/** The texts of the default pages in other languages than English, by the ids of their translation tags. */
export const DEFAULT_TEXTS: CenterTranslations = {
  ...NORTHERN,
  ...ROMANCE,
  ...EASTERN,
  ...RIGHT_TO_LEFT,
  ...ASIAN,
};
