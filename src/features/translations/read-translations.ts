import type { Workspace } from "../../core/base/context/workspace.ts";
import { type Database, type Queryable, readTogether } from "../../core/database/database.ts";
import type { Message, MessageAddress, TranslationMap } from "../campaigns/feature.ts";
import { refusal } from "./refusal.ts";
import {
  type CampaignAddress,
  type FoundMessage,
  type ListedTranslation,
  selectAllTranslations,
  selectFoundMessage,
  selectTranslationBytes,
  type Wanted,
} from "./translation-store.ts";

export type ReadServices = { readonly database: Database };

/**
 * Reads the translations of a message, in one statement: in one locale, or in all by their keys.
 *
 * spec: GET /campaign/translations/?locale_id={locale_id} and spec: GET /canvases/translations.
 *
 * @throws Problem of `findMessage`; LOCALE_NOT_FOUND if the message is not translated into it.
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

/** The most that one response holds; a larger campaign is read message by message. */
const LARGEST_LIST_BYTES = 15 * 1_048_576;

/**
 * Lists the translations of all messages of a campaign or canvas: by the order of the steps, by message,
 * by locale key. Messages that cannot be translated have none; if none can, the request is refused as for a single message.
 *
 * spec: GET /canvases/translations; Errors, the translation error codes.
 *
 * @throws Problem INVALID_CAMPAIGN_ID; MESSAGE_NOT_FOUND; UNSUPPORTED_CHANNEL;
 *   MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE; TRANSLATIONS_TOO_LARGE if they do not fit into one response.
 */
export async function listTranslations(
  { database }: ReadServices,
  workspace: Workspace,
  whole: CampaignAddress,
): Promise<readonly ListedTranslation[]> {
  return readTogether(database, async (tx) => {
    const bytes = await selectTranslationBytes(tx, workspace.id, whole);
    if (bytes > LARGEST_LIST_BYTES) {
      const rule = "Name one of them with 'message_variation_id'.";
      throw refusal("TRANSLATIONS_TOO_LARGE", `The messages do not fit into a response. ${rule}`);
    }
    const found = await selectAllTranslations(tx, workspace.id, whole);
    if (!found) throw refusal("INVALID_CAMPAIGN_ID", `There is no such ${whole.kind}.`);
    refuseUntranslatable(found.messages, whole.kind);
    return found.translations;
  });
}

/** Refuses messages of which none can be translated. */
function refuseUntranslatable(
  messages: readonly Pick<Message, "channel" | "multiLanguage">[],
  kind: CampaignAddress["kind"],
): void {
  if (messages.length === 0) throw refusal("MESSAGE_NOT_FOUND", `The ${kind} has no message.`);
  const emails = messages.filter(({ channel }) => channel === "email");
  if (emails.length === 0) {
    throw refusal("UNSUPPORTED_CHANNEL", "Only email messages can be translated.");
  }
  if (emails.some(({ multiLanguage }) => multiLanguage)) return;
  throw refusal(
    "MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE",
    "This message does not support multi-language.",
  );
}

/** Checked before everything else: docs/decisions/translations.md. */
export function requireMultiLanguage({ settings }: Workspace): void {
  if (settings.multi_language) return;
  throw refusal(
    "MULTI_LANGUAGE_NOT_ENABLED",
    "The multi-language setting is off for this workspace.",
  );
}

const unknownLocale = () =>
  refusal("INVALID_LOCALE_ID", "The provided locale code does not exist.");

/** Reads the source strings of a message. @throws Problem of `findMessage`. */
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
 * spec: Errors, the translation error codes.
 *
 * @throws Problem INVALID_CAMPAIGN_ID, MESSAGE_NOT_FOUND, UNSUPPORTED_CHANNEL,
 *   MULTI_LANGUAGE_NOT_ENABLED_ON_MESSAGE, INVALID_LOCALE_ID.
 */
export async function findMessage(
  database: Queryable,
  workspace: Workspace,
  address: MessageAddress,
  wanted: Wanted,
): Promise<FoundMessage & { message: NonNullable<FoundMessage["message"]> }> {
  const found = await selectFoundMessage(database, workspace.id, address, wanted);
  if (!found) throw refusal("INVALID_CAMPAIGN_ID", `There is no such ${address.kind}.`);
  const { message } = found;
  if (!message) throw refusal("MESSAGE_NOT_FOUND", `The ${address.kind} has no such message.`);
  refuseUntranslatable([message], address.kind);
  if (wanted !== "source" && wanted.localeId !== undefined && !found.isLocale) {
    throw unknownLocale();
  }
  return { ...found, message };
}
