import Type, { type Static } from "typebox";
import { Problem } from "../problem.ts";
import { findUnstorable } from "../profiles/plain-json.ts";
import type { Engagement, Locale, Message, MessageAddress, TranslationMap } from "./message.ts";
import { localeKeyForm } from "./message.ts";
import { findMapFault, readSource } from "./texts.ts";

/* How locales, campaigns, canvases and messages are written in a manifest and in the admin API. */

/** spec: Translation; ids are UUIDs. */
export const Uuid = Type.String({ format: "uuid" });

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
  channel: Type.Enum(["email", "sms", "whatsapp"]),
  multi_language: Type.Optional(Type.Boolean()),
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

export const DeclaredCampaign = Type.Object(
  { id: Uuid, name: Name, messages: Type.Optional(Type.Array(DeclaredMessage)) },
  { additionalProperties: false },
);

export const DeclaredCanvas = Type.Object(
  {
    id: Uuid,
    name: Name,
    steps: Type.Optional(
      Type.Array(
        Type.Object(
          { id: Uuid, messages: Type.Optional(Type.Array(DeclaredMessage)) },
          { additionalProperties: false },
        ),
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
 * Reads a campaign of a manifest. @param place what it goes by in sentences.
 *
 * @throws Problem INVALID_REQUEST for a locale that is not there, or a text that cannot be kept.
 */
export function campaignOf(
  declared: Static<typeof DeclaredCampaign>,
  place: string,
  locales: readonly Locale[],
): EngagementWithMessages {
  const address = {
    kind: "campaign",
    engagementId: declared.id.toLowerCase(),
    stepId: null,
  } as const;
  const messages = (declared.messages ?? []).map((message, index) =>
    declaredMessageOf(message, address, `${place}.messages[${index}]`, locales),
  );
  return engagementOf(declared, [], messages);
}

/** The same for a canvas, with its steps. */
export function canvasOf(
  declared: Static<typeof DeclaredCanvas>,
  place: string,
  locales: readonly Locale[],
): EngagementWithMessages {
  const engagementId = declared.id.toLowerCase();
  const steps = declared.steps ?? [];
  const messages = steps.flatMap((step, index) => {
    const address = { kind: "canvas", engagementId, stepId: step.id.toLowerCase() } as const;
    return (step.messages ?? []).map((message, inner) =>
      declaredMessageOf(message, address, `${place}.steps[${index}].messages[${inner}]`, locales),
    );
  });
  return engagementOf(
    declared,
    stepIdsOf(
      steps.map((step) => step.id),
      place,
    ),
    messages,
  );
}

/** In lower case. @throws Problem where one stands twice. */
export function stepIdsOf(ids: readonly string[], place: string): string[] {
  const stepIds = ids.map((id) => id.toLowerCase());
  refuseTwice(stepIds, (id) => `'${place}' has the step '${id}' twice.`);
  return stepIds;
}

/** @throws Problem INVALID_REQUEST with the first value that stands twice. */
export function refuseTwice(values: readonly string[], sentence: (value: string) => string): void {
  const seen = new Set<string>();
  for (const value of values) {
    if (seen.has(value)) throw new Problem("INVALID_REQUEST", sentence(value));
    seen.add(value);
  }
}

const engagementOf = (
  { id, name }: { readonly id: string; readonly name: string },
  stepIds: readonly string[],
  messages: readonly MessageWithTranslations[],
): EngagementWithMessages => ({
  id: id.toLowerCase(),
  name,
  stepIds,
  messages: [...messages].sort((a, b) => (a.messageId < b.messageId ? -1 : 1)),
});

function declaredMessageOf(
  declared: DeclaredMessage,
  address: Omit<MessageAddress, "messageId">,
  place: string,
  locales: readonly Locale[],
): MessageWithTranslations {
  const message = messageOf(declared, { ...address, messageId: declared.id.toLowerCase() }, place);
  if (!declared.translations) return { ...message, translations: undefined };
  const translations = Object.entries(declared.translations).map(([key, map]) => {
    const locale = locales.find((each) => localeKeyForm(each.localeKey) === localeKeyForm(key));
    if (!locale) {
      throw new Problem(
        "INVALID_REQUEST",
        `'${place}.translations' has '${key}', which is no locale of the workspace.`,
      );
    }
    refuseFaulty(map, `${place}.translations.${key}`);
    return [locale.id, map] as const;
  });
  refuseTwice(
    translations.map(([id]) => id),
    () => `'${place}.translations' has a locale twice.`,
  );
  return { ...message, translations: Object.fromEntries(translations) };
}

/**
 * A message as it is kept. Its strings are read out of its content where it has one.
 *
 * @throws Problem INVALID_REQUEST for a text that cannot be kept, or strings that differ from those
 *   of the content.
 */
export function messageOf(
  declared: Pick<DeclaredMessage, keyof typeof messageMembers>,
  address: MessageAddress,
  place: string,
): Message {
  const { channel, multi_language, content, source } = declared;
  if (source) refuseFaulty(source, `${place}.source`);
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
  place: string,
): TranslationMap {
  const read = readSource(content, `${place}.content`);
  if ("fault" in read) throw new Problem("INVALID_REQUEST", `${read.fault.message}.`);
  const ids = new Set([...Object.keys(read.value), ...Object.keys(given ?? read.value)]);
  for (const id of ids) {
    if (given === undefined || given[id] === read.value[id]) continue;
    throw new Problem("INVALID_REQUEST", `'${place}.source.${id}' is not as it is in the content.`);
  }
  return read.value;
}

/** @throws Problem INVALID_REQUEST */
export function refuseFaulty(map: TranslationMap, place: string): void {
  const fault = findMapFault(map, place);
  if (fault)
    throw new Problem("INVALID_REQUEST", `${fault.message}.`, { body: { code: fault.code } });
}

/** Names are kept and looked up as well. @throws Problem INVALID_REQUEST */
export function refuseUnstorableNames(entry: object, place: string): void {
  const fault = findUnstorable(entry, place);
  if (fault)
    throw new Problem("INVALID_REQUEST", `${fault.message}.`, { body: { code: fault.code } });
}
