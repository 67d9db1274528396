import Type, { type Static } from "typebox";
import { findUnstorable } from "../profiles/plain-json.ts";
import { ChannelName } from "../workspaces/manifest.ts";
import type { Engagement, Locale, Message, MessageAddress, TranslationMap } from "./message.ts";
import { localeKeyForm } from "./message.ts";
import { faultAt, type Place, placeName, refusalAt, refuseTwice } from "./place.ts";
import { findMapFault, readSource } from "./texts.ts";

/* How locales, campaigns, canvases and messages are written in a manifest and in the admin API. */

/** spec: Translation; ids are UUIDs. */
export const Uuid = Type.String({ format: "uuid", description: "A UUID, as requests name it." });

export const Name = Type.String({ minLength: 1, maxLength: 255 });

const Strings = Type.Record(Type.String(), Type.String());

export const localeMembers = {
  name: Name,
  country: Type.String({ maxLength: 255 }),
  language: Name,
  locale_key: Type.String({
    maxLength: 35,
    pattern: "^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*$",
    description: "Such as es-MX.",
  }),
};

export const DeclaredLocale = Type.Object(
  { id: Uuid, ...localeMembers },
  { additionalProperties: false },
);

export const messageMembers = {
  channel: ChannelName,
  multi_language: Type.Optional(
    Type.Boolean({ description: "Whether it can be translated. false by default." }),
  ),
  content: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "Texts with translation tags, such as subject and body.",
    }),
  ),
  source: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "The strings by id; not needed where there is a content to read them out of.",
    }),
  ),
};

const DeclaredMessage = Type.Object(
  {
    id: Uuid,
    ...messageMembers,
    translations: Type.Optional(
      Type.Record(Type.String(), Strings, { description: "Strings by locale key and id." }),
    ),
  },
  { additionalProperties: false },
);

type DeclaredMessage = Static<typeof DeclaredMessage>;

const Messages = Type.Array(DeclaredMessage, { description: "Those that belong to it." });

export const DeclaredCampaign = Type.Object(
  { id: Uuid, name: Name, messages: Type.Optional(Messages) },
  { additionalProperties: false },
);

export const DeclaredCanvas = Type.Object(
  {
    id: Uuid,
    name: Name,
    steps: Type.Optional(
      Type.Array(
        Type.Object(
          { id: Uuid, messages: Type.Optional(Messages) },
          { additionalProperties: false },
        ),
        { description: "The steps, in their order." },
      ),
    ),
  },
  { additionalProperties: false },
);

/** A message with the translations that its declaration has, by locale id; undefined: untouched. */
export interface MessageWithTranslations extends Message {
  readonly translations: Readonly<Record<string, TranslationMap>> | undefined;
}

export interface EngagementWithMessages extends Engagement {
  /** By id. */
  readonly messages: readonly MessageWithTranslations[];
}

export const localeOf = ({ id, locale_key, ...rest }: Static<typeof DeclaredLocale>): Locale => ({
  id: id.toLowerCase(),
  ...rest,
  localeKey: locale_key,
});

/**
 * Reads a campaign of a manifest.
 *
 * @throws Problem INVALID_REQUEST with the place, for a locale that is not there or a text that
 *   cannot be kept.
 */
export function campaignOf(
  declared: Static<typeof DeclaredCampaign>,
  place: Place,
  locales: readonly Locale[],
): EngagementWithMessages {
  const engagementId = declared.id.toLowerCase();
  const messages = (declared.messages ?? []).map((message, index) =>
    declaredMessageOf(
      message,
      { kind: "campaign", engagementId, stepId: null },
      [...place, "messages", index],
      locales,
    ),
  );
  return { id: engagementId, name: declared.name, stepIds: [], messages: inOrder(messages) };
}

/** The same for a canvas, with its steps. */
export function canvasOf(
  declared: Static<typeof DeclaredCanvas>,
  place: Place,
  locales: readonly Locale[],
): EngagementWithMessages {
  const engagementId = declared.id.toLowerCase();
  const steps = declared.steps ?? [];
  const stepIds = stepIdsOf(
    steps.map((step) => step.id),
    [...place, "steps"],
  );
  const messages = steps.flatMap((step, index) =>
    (step.messages ?? []).map((message, inner) =>
      declaredMessageOf(
        message,
        { kind: "canvas", engagementId, stepId: step.id.toLowerCase() },
        [...place, "steps", index, "messages", inner],
        locales,
      ),
    ),
  );
  return { id: engagementId, name: declared.name, stepIds, messages: inOrder(messages) };
}

/** In lower case. @throws Problem INVALID_REQUEST where one stands twice. */
export function stepIdsOf(ids: readonly string[], place: Place): string[] {
  const stepIds = ids.map((id) => id.toLowerCase());
  refuseTwice(place, "step", stepIds);
  return stepIds;
}

/** Their order means nothing, so that another order is no change. */
const inOrder = (messages: readonly MessageWithTranslations[]): MessageWithTranslations[] =>
  [...messages].sort((a, b) => (a.messageId < b.messageId ? -1 : 1));

function declaredMessageOf(
  declared: DeclaredMessage,
  address: Omit<MessageAddress, "messageId">,
  place: Place,
  locales: readonly Locale[],
): MessageWithTranslations {
  const message = messageOf(declared, { ...address, messageId: declared.id.toLowerCase() }, place);
  if (!declared.translations) return { ...message, translations: undefined };
  const at = [...place, "translations"];
  const keys = Object.keys(declared.translations).map(localeKeyForm);
  refuseTwice(at, "locale", keys);
  const translations = Object.entries(declared.translations).map(([key, map]) => {
    const locale = locales.find((each) => localeKeyForm(each.localeKey) === localeKeyForm(key));
    if (!locale) throw refusalAt(at, `has '${key}', which is no locale of the workspace.`);
    refuseFaulty(map, [...at, key]);
    return [locale.id, map] as const;
  });
  return { ...message, translations: Object.fromEntries(translations) };
}

/**
 * A message as it is kept. Its strings are read out of its content where it has one.
 *
 * @throws Problem INVALID_REQUEST with the place, for a text that cannot be kept, or strings that
 *   differ from those of the content.
 */
export function messageOf(
  declared: Pick<DeclaredMessage, keyof typeof messageMembers>,
  address: MessageAddress,
  place: Place,
): Message {
  const { channel, multi_language, content, source } = declared;
  if (source) refuseFaulty(source, [...place, "source"]);
  return {
    ...address,
    channel,
    multiLanguage: multi_language ?? false,
    content: content ?? null,
    source: content ? sourceOf(content, source, place) : (source ?? {}),
  };
}

function sourceOf(
  content: TranslationMap,
  given: TranslationMap | undefined,
  place: Place,
): TranslationMap {
  const at = [...place, "content"];
  const read = readSource(content, placeName(at));
  if ("fault" in read) throw faultAt(at, read.fault);
  const ids = new Set([...Object.keys(read.value), ...Object.keys(given ?? read.value)]);
  for (const id of ids) {
    if (given === undefined || given[id] === read.value[id]) continue;
    throw refusalAt([...place, "source", id], "is not as it is in the content.");
  }
  return read.value;
}

/** @throws Problem INVALID_REQUEST with the place. */
export function refuseFaulty(map: TranslationMap, place: Place): void {
  const fault = findMapFault(map, placeName(place));
  if (fault) throw faultAt(place, fault);
}

/** Names are kept too. @throws Problem INVALID_REQUEST with the place. */
export function refuseUnstorableNames(entry: object, place: Place): void {
  const fault = findUnstorable(entry, placeName(place));
  if (fault) throw faultAt(place, fault);
}
