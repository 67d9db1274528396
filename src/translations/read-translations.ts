import type { Workspace } from "../access/workspace.ts";
import type { Database, Queryable } from "../database/database.ts";
import type { Locale, MessageAddress, TranslationMap } from "./message.ts";
import { refusal } from "./refusal.ts";
import { type FoundMessage, selectFoundMessage, type Wanted } from "./translation-store.ts";

export interface ReadServices {
  readonly database: Database;
}

/**
 * Reads the translations of a message, in one statement: in one locale, or in all by their keys.
 *
 * spec: GET /campaign/translations/, GET /canvases/translations.
 *
 * @throws Problem of `findMessage`; LOCALE_NOT_FOUND where the message is not translated into it.
 */
export async function readTranslations(
  { database }: ReadServices,
  workspace: Workspace,
  address: MessageAddress,
  localeId: string | undefined,
): Promise<FoundMessage["translations"]> {
  const { translations } = await findMessage(database, workspace, address, { localeId });
  if (localeId !== undefined && translations.length === 0) {
    throw refusal("LOCALE_NOT_FOUND", "The message has no translation in this locale.");
  }
  return translations;
}

/** Reads the strings of a message as they were written. @throws Problem of `findMessage`. */
export async function readSourceOf(
  { database }: ReadServices,
  workspace: Workspace,
  address: MessageAddress,
): Promise<TranslationMap> {
  const { message } = await findMessage(database, workspace, address, "source");
  return message.source ?? {};
}

/**
 * Finds a message that can be translated.
 *
 * spec: Errors, the translation error codes; they are told in the order in which one would look.
 *
 * @throws Problem MULTI_LANGUAGE_NOT_ENABLED, INVALID_CAMPAIGN_ID, MESSAGE_NOT_FOUND,
 *   UNSUPPORTED_CHANNEL, MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE, INVALID_LOCALE_ID.
 */
export async function findMessage(
  database: Queryable,
  workspace: Workspace,
  address: MessageAddress,
  wanted: Wanted,
): Promise<FoundMessage & { message: NonNullable<FoundMessage["message"]> }> {
  if (!workspace.settings.multi_language) {
    throw refusal(
      "MULTI_LANGUAGE_NOT_ENABLED",
      "The multi-language setting is off for this workspace.",
    );
  }
  const found = await selectFoundMessage(database, workspace.id, address, wanted);
  if (!found) throw refusal("INVALID_CAMPAIGN_ID", `There is no such ${address.kind}.`);
  const { message } = found;
  if (!message) throw refusal("MESSAGE_NOT_FOUND", `The ${address.kind} has no such message.`);
  if (message.channel !== "email") {
    throw refusal("UNSUPPORTED_CHANNEL", "Only email messages can be translated.");
  }
  if (!message.multiLanguage) {
    throw refusal(
      "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE",
      "This message does not support multi-language.",
    );
  }
  if (wanted !== "source" && wanted.localeId !== undefined && !found.isLocale) {
    throw refusal("INVALID_LOCALE_ID", "The provided locale code does not exist.");
  }
  return { ...found, message };
}

/** A locale as answers show it. Public: uuid and locale_key beside the specification's members. */
export const localeView = (locale: Locale) => ({
  uuid: locale.id,
  name: locale.name,
  country: locale.country,
  language: locale.language,
  locale_key: locale.localeKey,
});
