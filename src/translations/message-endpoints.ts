import Type, { type Static } from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import { Problem } from "../problem.ts";
import { messageMembers, messageOf, refuseFaulty, Uuid } from "./declarations.ts";
import {
  type MessageServices,
  putMessage,
  putTranslation,
  readMessage,
  removeMessage,
  removeTranslation,
  type WholeMessage,
} from "./manage-messages.ts";
import type { MessageAddress } from "./message.ts";
import { localeView } from "./read-translations.ts";
import { renderMessage } from "./render-message.ts";
import { Success, success } from "./success.ts";

/* Messages, and their translations one at a time, in the admin API. */

const PATH = "/admin/v1/workspaces/:name/messages/:id";

const OfMessage = Type.Object({ name: Type.String(), id: Uuid });

const Strings = Type.Record(Type.String(), Type.String());

const Address = {
  campaign_id: Type.Optional(Uuid),
  canvas_id: Type.Optional(Uuid),
  step_id: Type.Optional(Uuid),
};

const readEndpoint = endpoint({
  method: "GET",
  path: PATH,
  summary: "Reads a message with its strings and all translations of them.",
  access: byAdministrator,
  params: OfMessage,
  replies: {
    200: Type.Object({
      id: Type.String(),
      ...Address,
      channel: Type.String(),
      multi_language: Type.Boolean(),
      content: Type.Optional(Strings),
      source: Strings,
      translations: Type.Record(Type.String(), Strings),
      declared: Type.Boolean(),
      updated_at: Type.String(),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: MessageServices, _nobody, { params }) => {
  const whole = await readMessage(services, params.name, params.id.toLowerCase());
  return { status: 200, body: { ...messageView(whole), message: "success" } };
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

const addressView = ({ kind, engagementId, stepId }: MessageAddress) =>
  kind === "campaign"
    ? { campaign_id: engagementId }
    : { canvas_id: engagementId, ...(stepId !== null && { step_id: stepId }) };

const putEndpoint = endpoint({
  method: "PUT",
  path: PATH,
  summary: "Makes a message of a campaign or of a canvas's step, or changes it.",
  access: byAdministrator,
  params: OfMessage,
  body: Type.Object({ ...Address, ...messageMembers }, { additionalProperties: false }),
  replies: { 200: Success },
}).handledBy(async (services: MessageServices, _nobody, { params, body, call }) => {
  const address = { ...readAddress(body), messageId: params.id.toLowerCase() };
  await putMessage(services, params.name, originOf(call), messageOf(body, address, []));
  return success;
});

function readAddress({
  campaign_id,
  canvas_id,
  step_id,
}: Static<ReturnType<typeof Type.Object<typeof Address>>>): Omit<MessageAddress, "messageId"> {
  if (campaign_id !== undefined && canvas_id === undefined && step_id === undefined) {
    return { kind: "campaign", engagementId: campaign_id.toLowerCase(), stepId: null };
  }
  if (campaign_id === undefined && canvas_id !== undefined && step_id !== undefined) {
    const stepId = step_id.toLowerCase();
    return { kind: "canvas", engagementId: canvas_id.toLowerCase(), stepId };
  }
  throw new Problem(
    "INVALID_REQUEST",
    "Either 'campaign_id', or 'canvas_id' and 'step_id', must be given.",
  );
}

const removeEndpoint = endpoint({
  method: "DELETE",
  path: PATH,
  summary: "Removes a message with its translations.",
  access: byAdministrator,
  params: OfMessage,
  replies: { 200: Success },
}).handledBy(async (services: MessageServices, _nobody, { params, call }) => {
  await removeMessage(services, params.name, originOf(call), params.id.toLowerCase());
  return success;
});

const OfTranslation = Type.Object({ name: Type.String(), id: Uuid, locale_id: Uuid });

const translationAddress = (params: Static<typeof OfTranslation>) => ({
  messageId: params.id.toLowerCase(),
  localeId: params.locale_id.toLowerCase(),
});

const putTranslationEndpoint = endpoint({
  method: "PUT",
  path: `${PATH}/translations/:locale_id`,
  summary: "Sets the strings of a message in one locale; the source shows for those missing.",
  access: byAdministrator,
  params: OfTranslation,
  body: Type.Object({ translation_map: Strings }, { additionalProperties: false }),
  replies: { 200: Success },
}).handledBy(async (services: MessageServices, _nobody, { params, body, call }) => {
  refuseFaulty(body.translation_map, ["translation_map"]);
  const address = translationAddress(params);
  await putTranslation(services, params.name, originOf(call), address, body.translation_map);
  return success;
});

const removeTranslationEndpoint = endpoint({
  method: "DELETE",
  path: `${PATH}/translations/:locale_id`,
  summary: "Removes the strings of a message in one locale.",
  access: byAdministrator,
  params: OfTranslation,
  replies: { 200: Success },
}).handledBy(async (services: MessageServices, _nobody, { params, call }) => {
  await removeTranslation(services, params.name, originOf(call), translationAddress(params));
  return success;
});

const renderEndpoint = endpoint({
  method: "GET",
  path: `${PATH}/render`,
  summary: "Renders a message in a locale, or as it was written, without a reader.",
  access: byAdministrator,
  params: OfMessage,
  query: Type.Object({ locale_id: Type.Optional(Uuid) }),
  replies: {
    200: Type.Object({
      locale: Type.Union([
        Type.Null(),
        Type.Object({
          uuid: Type.String(),
          name: Type.String(),
          country: Type.String(),
          language: Type.String(),
          locale_key: Type.String(),
        }),
      ]),
      content: Strings,
      translation_map: Strings,
      untranslated: Type.Array(Type.String(), {
        description: "The ids for which the source stands.",
      }),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: MessageServices, _nobody, { params, query }) => {
  const id = params.id.toLowerCase();
  const rendered = await renderMessage(services, params.name, id, query.locale_id?.toLowerCase());
  const { locale, content, strings, untranslated } = rendered;
  return {
    status: 200,
    body: {
      locale: locale ? localeView(locale) : null,
      content,
      translation_map: strings,
      untranslated: [...untranslated],
      message: "success",
    },
  };
});

export const messageEndpoints = [
  readEndpoint,
  putEndpoint,
  removeEndpoint,
  putTranslationEndpoint,
  removeTranslationEndpoint,
  renderEndpoint,
];
