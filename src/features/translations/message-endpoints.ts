import Type, { type Static } from "typebox";
import {
  ClosedObject,
  NullableText,
  named,
  OnlySuccess,
  succeeding,
  successOf,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import type { MessageAddress, TextServices } from "../campaigns/feature.ts";
import {
  judgeTexts,
  MESSAGE_PATH,
  MessageAddressFields,
  OfMessage,
  refuseFaulty,
  Uuid,
} from "../campaigns/feature.ts";
import { LocaleView, localeView } from "./locale.ts";
import {
  changeTranslation,
  putTranslation,
  readMessage,
  removeTranslation,
  type WholeMessage,
} from "./manage-translations.ts";
import { renderMessage } from "./render-message.ts";

/* A message with its translations, and single translations, in the admin API. */

const Strings = Type.Record(Type.String(), Type.String());

const readEndpoint = endpoint({
  name: "getMessage",
  method: "GET",
  path: MESSAGE_PATH,
  summary: "Reads a message with its strings and all translations of them.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfMessage,
  replies: {
    200: successOf(
      named("Message", {
        id: Type.String(),
        ...MessageAddressFields,
        channel: Type.String(),
        multi_language: Type.Boolean(),
        content: Type.Optional(Strings),
        source: Strings,
        translations: Type.Record(Type.String(), Strings),
        declared: Type.Boolean(),
        updated_at: Type.String(),
      }),
    ),
  },
}).handledBy(async (services: StoringServices, context, { params }) => {
  const whole = await readMessage(services, context, params.id);
  return success(messageView(whole));
});

function messageView({ message, locales, translations }: WholeMessage) {
  const translated = locales.flatMap(({ id, localeKey }) => {
    const map = translations.get(id);
    return map ? [[localeKey, map] as const] : [];
  });
  return {
    id: message.messageId,
    ...addressView(message),
    channel: message.channel,
    multi_language: message.multiLanguage,
    ...(message.content && { content: message.content }),
    source: message.source,
    translations: Object.fromEntries(translated),
    declared: message.declared,
    updated_at: message.updatedAt.toISOString(),
  };
}

const addressView = ({ kind, campaignId, stepId }: MessageAddress) =>
  kind === "campaign"
    ? { campaign_id: campaignId }
    : { canvas_id: campaignId, ...(stepId !== null && { step_id: stepId }) };

const OfTranslation = Type.Object({ name: Type.String(), id: Uuid, locale_id: Uuid });

const translationAddress = (params: Static<typeof OfTranslation>) => ({
  messageId: params.id,
  localeId: params.locale_id,
});

const putTranslationEndpoint = endpoint({
  name: "setMessageTranslation",
  method: "PUT",
  path: `${MESSAGE_PATH}/translations/:locale_id`,
  summary: "Sets the strings of a message in one locale; missing ones fall back to the source.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfTranslation,
  body: ClosedObject({ translation_map: Strings }),
  replies: { 200: OnlySuccess },
}).handledBy(async (services: TextServices, context, { params, body }) => {
  const texts = { maps: [body.translation_map], contents: [] };
  await judgeTexts(services.threads, context.workspace.id, texts);
  refuseFaulty(body.translation_map, ["translation_map"]);
  const address = translationAddress(params);
  await putTranslation(services, context, address, body.translation_map);
  return success();
});

const changeTranslationEndpoint = endpoint({
  name: "changeMessageTranslation",
  method: "PATCH",
  path: `${MESSAGE_PATH}/translations/:locale_id`,
  summary:
    "Sets or removes single strings of a message in one locale; the others stay as they are.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfTranslation,
  body: ClosedObject({
    translation_map: Type.Record(Type.String(), NullableText, {
      description: "The changed strings by id; null removes one.",
    }),
  }),
  replies: { 200: OnlySuccess },
}).handledBy(async (services: TextServices, context, { params, body }) => {
  const changes = Object.entries(body.translation_map);
  const texts = Object.fromEntries(
    changes.flatMap(([id, text]) => (text === null ? [] : [[id, text]])),
  );
  await judgeTexts(services.threads, context.workspace.id, { maps: [texts], contents: [] });
  refuseFaulty(texts, ["translation_map"]);
  await changeTranslation(services, context, translationAddress(params), body.translation_map);
  return success();
});

const removeTranslationEndpoint = endpoint({
  name: "deleteMessageTranslation",
  method: "DELETE",
  path: `${MESSAGE_PATH}/translations/:locale_id`,
  summary: "Removes the strings of a message in one locale.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfTranslation,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: StoringServices, context, { params }) => {
  await removeTranslation(services, context, translationAddress(params));
  return success();
});

const renderEndpoint = endpoint({
  name: "renderMessage",
  method: "GET",
  path: `${MESSAGE_PATH}/render`,
  summary: "Renders a message in a locale, or its source, without a recipient.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfMessage,
  query: Type.Object({ locale_id: Type.Optional(Uuid) }),
  replies: succeeding({
    locale: Type.Union([Type.Null(), LocaleView]),
    content: Strings,
    translation_map: Strings,
    untranslated: Type.Array(Type.String(), {
      description: "The ids that fall back to the source.",
    }),
  }),
}).handledBy(async (services: TextServices, context, { params, query }) => {
  const rendered = await renderMessage(services, context, params.id, query.locale_id);
  const { locale, content, strings, untranslated } = rendered;
  return success({
    locale: locale ? localeView(locale) : null,
    content,
    translation_map: strings,
    untranslated: [...untranslated],
  });
});

export const messageTranslationEndpoints = [
  readEndpoint,
  putTranslationEndpoint,
  changeTranslationEndpoint,
  removeTranslationEndpoint,
  renderEndpoint,
];
