import type { Workspace } from "../../core/base/context/workspace.ts";
import type { ThreadPool } from "../../core/base/threads/thread-pool.ts";
import { type Transaction, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { MessageAddress, TranslationMap } from "../campaigns/feature.ts";
import { findMapFault, judgeTexts, lockMessage } from "../campaigns/feature.ts";
import { findMessage } from "./read-translations.ts";
import { refusal, refusalOf } from "./refusal.ts";
import { selectOversized, type Translation, upsertTranslations } from "./translation-store.ts";

export type WriteServices = StoringServices & { readonly threads: ThreadPool };

/** Public: all translations of a message together. */
const LIMIT_BYTES = 20 * 1_048_576;

/**
 * Sets all strings of a message in one locale. Public: every id of the message is required; further ids are
 * stored too, because translations may come before the content that uses them.
 *
 * @throws Problem of `findMessage`; MISSING_TRANSLATIONS that names the ids, INVALID_TRANSLATIONS or
 *   INVALID_TEXT with the id and the reason, TRANSLATIONS_TOO_LARGE.
 */
export async function writeTranslations(
  services: WriteServices,
  workspace: Workspace,
  address: MessageAddress,
  localeId: string,
  map: TranslationMap,
): Promise<void> {
  await judgeTexts(services.threads, workspace.id, { maps: [map], contents: [] });
  const fault = findMapFault(map, "translation_map");
  if (fault) {
    const message = `The provided translations yielded errors when parsing. ${fault.message}`;
    throw refusalOf({ code: fault.code, message });
  }
  await withRetries(services.database, async (tx) => {
    await findMessage(tx, workspace, address, { localeId });
    const source = await lockMessage(tx, workspace.id, address.messageId, services.clock.now());
    if (!source) throw refusal("MESSAGE_NOT_FOUND", "The message was removed.");
    refuseMissing(source, map);
    const translation = { messageId: address.messageId, localeId, map };
    await saveTranslations(tx, workspace.id, [translation], false);
  });
}

function refuseMissing(source: TranslationMap, map: TranslationMap): void {
  const missing = missingIds(source, map);
  if (missing.length === 0) return;
  const names = missing.map((id) => `'${id}'`).join(", ");
  throw refusal("MISSING_TRANSLATIONS", `The provided translations are missing ${names}`);
}

export const missingIds = (source: TranslationMap, map: TranslationMap): string[] =>
  Object.keys(source).filter((id) => !Object.hasOwn(map, id));

/**
 * Writes translations of locked messages and checks their total size.
 *
 * @throws Problem TRANSLATIONS_TOO_LARGE
 */
export async function saveTranslations(
  tx: Transaction,
  workspaceId: number,
  translations: readonly Translation[],
  declared: boolean,
): Promise<void> {
  await upsertTranslations(tx, workspaceId, translations, declared);
  const messageIds = [...new Set(translations.map((each) => each.messageId))];
  const [oversized] = await selectOversized(tx, workspaceId, messageIds, LIMIT_BYTES);
  if (oversized === undefined) return;
  throw refusal(
    "TRANSLATIONS_TOO_LARGE",
    `The provided translations have exceeded the maximum of 20MB (message '${oversized}').`,
  );
}
