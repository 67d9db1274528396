import { MESSAGE_IDS } from "../engines/message.ts";
import { translationsFloor } from "../floors/translations.ts";
import type { Workload } from "./workload.ts";

const { campaign, message } = MESSAGE_IDS;

/** GET /campaign/translations/: all that a message says in all its locales, about 1.7 MB. */
export const translations: Workload = {
  name: "translations",
  about: "A message of 500 strings in 40 locales, read as a whole.",
  unit: "messages",
  unitsPerRequest: 1,
  distribution: "uniform",
  method: "GET",
  path: `/campaign/translations/?campaign_id=${campaign}&message_variation_id=${message}`,
  connections: 4,
  bodies: 1,
  body: () => null,
  faults: [],
  bareAnswer: () => ANSWER,
  floor: translationsFloor,
};

/** As many bytes as the real answer, made once. */
const ANSWER = {
  translations: Array.from({ length: 40 }, (_, locale) => ({
    locale: { name: "Locale", country: "Country", language: "Language" },
    translation_map: Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`id_${index}`, `${locale} ${"text ".repeat(14)}`]),
    ),
  })),
};
