import Type, { type Static, type TProperties } from "typebox";
import { named, OnlySuccess } from "../../core/base/values/schemas.ts";
import { endpoint, success, withPermission } from "../../core/http/endpoint.ts";
import type { MessageAddress } from "../campaigns/feature.ts";
import {
  addressInCampaign,
  addressInCanvas,
  type NamedMessage,
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
import type { CampaignAddress, FoundMessage, ListedTranslation } from "./translation-store.ts";
import { type WriteServices, writeTranslations } from "./write-translations.ts";

/* A missing or malformed id has its own code, so the schemas leave that check to the handlers. */

const Uuid = (description: string) => Type.Optional(Type.String({ description }));

const locale_id = Uuid("A UUID of a message's locale; without it, all locales.");

const message_variation_id = Uuid("Required. A UUID.");

const TranslationMap = Type.Record(Type.String(), Type.String());

const Translations = Type.Object({
  translations: Type.Array(
    named("Translation", {
      step_id: Type.Optional(Type.String({ description: "For the list of a whole canvas." })),
      message_variation_id: Type.Optional(
        Type.String({ description: "For the list of a whole campaign or canvas." }),
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

const Update = { locale_id: Uuid("Required. A UUID."), translation_map: TranslationMap };

const dialect = "translations";

interface Kind {
  /** All publicly known spellings, the specification's first. */
  readonly names: readonly [string, string];
  readonly noun: string;
  readonly operations: Readonly<Record<"read" | "source" | "write", string>>;
  readonly fields: TProperties;
  readonly reads: "campaigns.translations.get" | "canvas.translations.get";
  readonly writes: "campaigns.translations.update" | "canvas.translations.update";
  /** @throws Problem if an id is missing or malformed. */
  address(named: NamedMessage): MessageAddress;
  isWhole(named: NamedMessage): boolean;
  whole(named: NamedMessage): CampaignAddress;
}

const CAMPAIGN: Kind = {
  names: ["campaign", "campaigns"],
  noun: "campaign",
  operations: {
    read: "listCampaignTranslations",
    source: "getCampaignTranslationSource",
    write: "setCampaignTranslation",
  },
  fields: { campaign_id: Uuid("Required. A UUID."), message_variation_id },
  reads: "campaigns.translations.get",
  writes: "campaigns.translations.update",
  address: addressInCampaign,
  isWhole: ({ message_variation_id, locale_id }) =>
    message_variation_id === undefined && locale_id === undefined,
  whole: wholeCampaign,
};

const CANVAS: Kind = {
  names: ["canvases", "canvas"],
  noun: "canvas",
  operations: {
    read: "listCanvasTranslations",
    source: "getCanvasTranslationSource",
    write: "setCanvasTranslation",
  },
  fields: {
    workflow_id: Uuid("Required. The canvas, a UUID; also read from canvas_id."),
    canvas_id: Uuid("The same as workflow_id."),
    step_id: Uuid("Required. A UUID."),
    message_variation_id,
  },
  reads: "canvas.translations.get",
  writes: "canvas.translations.update",
  address: addressInCanvas,
  isWhole: ({ message_variation_id, step_id, locale_id }) =>
    message_variation_id === undefined && step_id === undefined && locale_id === undefined,
  whole: wholeCanvas,
};

/** In the specification, the path of a campaign's translations ends with a slash. */
const pathsOf = ({ names }: Kind, rest = "") => [
  ...names.filter((name) => name === "campaign" && rest === "").map((n) => `/${n}/translations/`),
  ...names.map((name) => `/${name}/translations${rest}`),
];

const optionalLocaleId = ({ locale_id }: NamedMessage): string | undefined =>
  locale_id === undefined ? undefined : readLocaleId(locale_id);

const readEndpoint = (kind: Kind) =>
  endpoint({
    name: kind.operations.read,
    method: "GET",
    path: pathsOf(kind),
    summary: `Reads the translations of a ${kind.noun} or of one of its messages.`,
    access: withPermission(kind.reads),
    query: Type.Object({ ...kind.fields, locale_id }),
    replies: { 200: Translations },
    dialect,
  }).handledBy(async (services: ReadServices, { workspace }, { query }) => {
    requireMultiLanguage(workspace);
    const named: NamedMessage = query;
    if (kind.isWhole(named)) {
      return listReply(await listTranslations(services, workspace, kind.whole(named)));
    }
    const address = kind.address(named);
    const localeId = optionalLocaleId(named);
    return messageReply(await readTranslations(services, workspace, address, localeId));
  });

const sourceEndpoint = (kind: Kind) =>
  endpoint({
    name: kind.operations.source,
    method: "GET",
    path: pathsOf(kind, "/source"),
    summary: `Reads the source strings of a ${kind.noun}'s message.`,
    access: withPermission(kind.reads),
    query: Type.Object(kind.fields),
    replies: { 200: Source },
    dialect,
  }).handledBy(async (services: ReadServices, { workspace }, { query }) => {
    requireMultiLanguage(workspace);
    return sourceReply(await readSourceOf(services, workspace, kind.address(query)));
  });

const writeEndpoint = (kind: Kind) =>
  endpoint({
    name: kind.operations.write,
    method: "PUT",
    path: pathsOf(kind),
    summary: `Sets all strings of a ${kind.noun}'s message in one locale.`,
    access: withPermission(kind.writes),
    body: Type.Object({ ...kind.fields, ...Update }),
    replies: { 200: OnlySuccess },
    dialect,
  }).handledBy(async (services: WriteServices, { workspace }, { body }) => {
    requireMultiLanguage(workspace);
    const address = kind.address(body);
    const localeId = readLocaleId(body.locale_id);
    await writeTranslations(services, workspace, address, localeId, body.translation_map);
    return success();
  });

export const translationEndpoints = [readEndpoint, sourceEndpoint, writeEndpoint].flatMap(
  (declare) => [declare(CAMPAIGN), declare(CANVAS)],
);
