import Type, { type Static } from "typebox";
import { Success, success } from "../campaigns/success.ts";
import { endpoint, withPermission } from "../http/endpoint.ts";
import {
  addressInCampaign,
  addressInCanvas,
  readLocaleId,
  wholeCampaign,
  wholeCanvas,
} from "./address.ts";
import { LocaleView, localeView } from "./locale.ts";
import {
  listTranslations,
  type ReadServices,
  readSourceOf,
  readTranslations,
  requireMultiLanguage,
} from "./read-translations.ts";
import type { FoundMessage, ListedTranslation } from "./translation-store.ts";
import { type WriteServices, writeTranslations } from "./write-translations.ts";

/** All publicly known spellings, the specification's first. */
const spellings = (names: readonly [string, string], rest = "") =>
  names.flatMap((name) => [`/${name}/translations${rest}/`, `/${name}/translations${rest}`]);

const CAMPAIGN = ["campaign", "campaigns"] as const;

const CANVAS = ["canvases", "canvas"] as const;

/* A missing or malformed id has a code of its own, so the schemas leave that check to the handlers. */

const Uuid = (description: string) => Type.Optional(Type.String({ description }));

const CampaignMessage = {
  campaign_id: Uuid("Required. A UUID."),
  message_variation_id: Uuid("Required. A UUID."),
};

const CanvasMessage = {
  workflow_id: Uuid("Required. The canvas, a UUID; also read from canvas_id."),
  canvas_id: Uuid("The same as workflow_id."),
  step_id: Uuid("Required. A UUID."),
  message_variation_id: Uuid("Required. A UUID."),
};

const locale_id = Uuid("A UUID; without it, all locales.");

const TranslationMap = Type.Record(Type.String(), Type.String());

const Translations = Type.Object({
  translations: Type.Array(
    Type.Object({
      step_id: Type.Optional(Type.String({ description: "In a list of a whole canvas." })),
      message_variation_id: Type.Optional(
        Type.String({ description: "In a list of a whole campaign or canvas." }),
      ),
      translation_map: TranslationMap,
      locale: LocaleView,
    }),
  ),
});

const messageReply = (translations: FoundMessage["translations"]) => ({
  status: 200 as const,
  body: {
    translations: translations.map(({ locale, map }) => ({
      translation_map: map,
      locale: localeView(locale),
    })),
  },
});

/** Each entry of a whole campaign or canvas names its message. */
const listReply = (translations: readonly ListedTranslation[]) => ({
  status: 200 as const,
  body: {
    translations: translations.map(({ stepId, messageId, locale, map }) => ({
      ...(stepId !== null && { step_id: stepId }),
      message_variation_id: messageId,
      translation_map: map,
      locale: localeView(locale),
    })),
  },
});

const Source = Type.Object({
  translations: Type.Object({ translation_map: TranslationMap }),
  message: Type.Literal("success"),
});

const sourceReply = (translation_map: Static<typeof TranslationMap>) => ({
  status: 200 as const,
  body: { translations: { translation_map }, message: "success" as const },
});

const Update = {
  locale_id: Uuid("Required. A UUID."),
  translation_map: TranslationMap,
};

const dialect = "translations";

const optionalLocaleId = ({ locale_id }: { readonly locale_id?: string }): string | undefined =>
  locale_id === undefined ? undefined : readLocaleId(locale_id);

const readInCampaign = endpoint({
  method: "GET",
  path: spellings(CAMPAIGN),
  summary: "Reads the translations of a campaign or of one of its messages.",
  access: withPermission("campaigns.translations.get"),
  query: Type.Object({ ...CampaignMessage, locale_id }),
  replies: { 200: Translations },
  dialect,
}).handledBy(async (services: ReadServices, { workspace }, { query }) => {
  requireMultiLanguage(workspace);
  const { message_variation_id } = query;
  if (message_variation_id === undefined) {
    const whole = wholeCampaign(query);
    const localeId = optionalLocaleId(query);
    return listReply(await listTranslations(services, workspace, whole, localeId));
  }
  const address = addressInCampaign(query);
  const localeId = optionalLocaleId(query);
  return messageReply(await readTranslations(services, workspace, address, localeId));
});

const readInCanvas = endpoint({
  method: "GET",
  path: spellings(CANVAS),
  summary: "Reads the translations of a canvas or of one of its messages.",
  access: withPermission("canvas.translations.get"),
  query: Type.Object({ ...CanvasMessage, locale_id }),
  replies: { 200: Translations },
  dialect,
}).handledBy(async (services: ReadServices, { workspace }, { query }) => {
  requireMultiLanguage(workspace);
  const { message_variation_id, step_id } = query;
  if (message_variation_id === undefined && step_id === undefined) {
    const whole = wholeCanvas(query);
    const localeId = optionalLocaleId(query);
    return listReply(await listTranslations(services, workspace, whole, localeId));
  }
  const address = addressInCanvas(query);
  const localeId = optionalLocaleId(query);
  return messageReply(await readTranslations(services, workspace, address, localeId));
});

const sourceInCampaign = endpoint({
  method: "GET",
  path: spellings(CAMPAIGN, "/source"),
  summary: "Reads the source strings of a campaign's message.",
  access: withPermission("campaigns.translations.get"),
  query: Type.Object(CampaignMessage),
  replies: { 200: Source },
  dialect,
}).handledBy(async (services: ReadServices, { workspace }, { query }) => {
  requireMultiLanguage(workspace);
  return sourceReply(await readSourceOf(services, workspace, addressInCampaign(query)));
});

const sourceInCanvas = endpoint({
  method: "GET",
  path: spellings(CANVAS, "/source"),
  summary: "Reads the source strings of a canvas's message.",
  access: withPermission("canvas.translations.get"),
  query: Type.Object(CanvasMessage),
  replies: { 200: Source },
  dialect,
}).handledBy(async (services: ReadServices, { workspace }, { query }) => {
  requireMultiLanguage(workspace);
  return sourceReply(await readSourceOf(services, workspace, addressInCanvas(query)));
});

const writeInCampaign = endpoint({
  method: "PUT",
  path: spellings(CAMPAIGN),
  summary: "Sets all strings of a campaign's message in one locale.",
  access: withPermission("campaigns.translations.update"),
  body: Type.Object({ ...CampaignMessage, ...Update }),
  replies: { 200: Success },
  dialect,
}).handledBy(async (services: WriteServices, { workspace }, { body }) => {
  requireMultiLanguage(workspace);
  const address = addressInCampaign(body);
  const localeId = readLocaleId(body.locale_id);
  await writeTranslations(services, workspace, address, localeId, body.translation_map);
  return success;
});

const writeInCanvas = endpoint({
  method: "PUT",
  path: spellings(CANVAS),
  summary: "Sets all strings of a canvas's message in one locale.",
  access: withPermission("canvas.translations.update"),
  body: Type.Object({ ...CanvasMessage, ...Update }),
  replies: { 200: Success },
  dialect,
}).handledBy(async (services: WriteServices, { workspace }, { body }) => {
  requireMultiLanguage(workspace);
  const address = addressInCanvas(body);
  const localeId = readLocaleId(body.locale_id);
  await writeTranslations(services, workspace, address, localeId, body.translation_map);
  return success;
});

export const translationEndpoints = [
  readInCampaign,
  readInCanvas,
  sourceInCampaign,
  sourceInCanvas,
  writeInCampaign,
  writeInCanvas,
];
