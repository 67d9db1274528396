import { isDeepStrictEqual } from "node:util";
import { recordChangeIn } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  type Queryable,
  readTogether,
  type Transaction,
  withRetries,
} from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { TranslationMap } from "../campaigns/feature.ts";
import {
  findMessage,
  lockMessage,
  type MessageRow,
  refuseTooLarge,
  unknownMessage,
} from "../campaigns/feature.ts";
import type { Locale } from "./locale.ts";
import { selectLocales } from "./locale-store.ts";
import { deleteTranslations, selectTranslations } from "./translation-store.ts";
import { saveTranslations } from "./write-translations.ts";

export interface WholeMessage {
  readonly message: MessageRow;
  readonly locales: readonly Locale[];
  /** By locale id. */
  readonly translations: ReadonlyMap<string, TranslationMap>;
}

/** @throws Problem NOT_FOUND. */
export async function readMessage(
  { database }: Pick<StoringServices, "database">,
  context: WorkspaceContext,
  messageId: string,
): Promise<WholeMessage> {
  const { id } = context.workspace;
  return readTogether(database, (tx) => readWholeMessage(tx, id, messageId));
}

/** The same within a transaction. */
export async function readWholeMessage(
  database: Queryable,
  workspaceId: number,
  messageId: string,
): Promise<WholeMessage> {
  const message = await findMessage(database, workspaceId, messageId);
  const locales = await selectLocales(database, workspaceId);
  const rows = await selectTranslations(database, workspaceId, [messageId]);
  const translations = new Map(rows.map((row) => [row.localeId, row.map]));
  return { message, locales, translations };
}

/**
 * Sets the strings of a message in one locale; missing ones fall back to the source.
 *
 * @throws Problem NOT_FOUND for the message or the locale; TRANSLATIONS_TOO_LARGE.
 */
export const putTranslation = (
  services: StoringServices,
  context: WorkspaceContext,
  address: TranslationAddress,
  map: TranslationMap,
): Promise<void> => setTranslation(services, context, address, () => map);

/**
 * Sets and removes single strings of a message in one locale; all others are unchanged, and
 * concurrent changes to them are kept.
 *
 * @param changes by id, checked; null removes a string.
 * @throws Problem as `putTranslation`; INVALID_REQUEST if there are too many strings afterwards.
 */
export const changeTranslation = (
  services: StoringServices,
  context: WorkspaceContext,
  address: TranslationAddress,
  changes: Readonly<Record<string, string | null>>,
): Promise<void> =>
  setTranslation(services, context, address, (known) => {
    const map = new Map(Object.entries(known));
    for (const [id, text] of Object.entries(changes)) {
      if (text === null) map.delete(id);
      else map.set(id, text);
    }
    const changed = Object.fromEntries(map);
    refuseTooLarge(changed, ["translation_map"]);
    return changed;
  });

export interface TranslationAddress {
  readonly messageId: string;
  readonly localeId: string;
}

async function setTranslation(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  { messageId, localeId }: TranslationAddress,
  mapAfter: (known: TranslationMap) => TranslationMap,
): Promise<void> {
  const { id } = context.workspace;
  await withRetries(database, async (tx) => {
    await lockMessageOf(tx, id, messageId, clock.now());
    await refuseUnknownLocale(tx, id, localeId);
    const present = await selectTranslations(tx, id, [messageId]);
    const known = present.find((each) => each.localeId === localeId);
    const map = mapAfter(known?.map ?? {});
    await saveTranslations(tx, id, [{ messageId, localeId, map }], false);
    if (known && isDeepStrictEqual(known.map, map)) return;
    await recordChangeIn(tx, clock, context, {
      action: known ? "updated" : "created",
      kind: "translation",
      name: messageId,
      details: { locale_id: localeId, strings: Object.keys(map).length },
    });
  });
}

/** Removes the strings of a message in one locale. @throws Problem NOT_FOUND. */
export async function removeTranslation(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  address: TranslationAddress,
): Promise<void> {
  const { id } = context.workspace;
  await withRetries(database, async (tx) => {
    await lockMessageOf(tx, id, address.messageId, clock.now());
    if ((await deleteTranslations(tx, id, [address])) === 0) {
      throw new Problem("NOT_FOUND", "The message has no translation in this locale.");
    }
    await recordChangeIn(tx, clock, context, {
      action: "removed",
      kind: "translation",
      name: address.messageId,
      details: { locale_id: address.localeId },
    });
  });
}

/** Locks a message and returns its strings. @throws Problem NOT_FOUND. */
export const lockMessageOf = async (
  tx: Transaction,
  workspaceId: number,
  messageId: string,
  now: Date,
): Promise<TranslationMap> =>
  (await lockMessage(tx, workspaceId, messageId, now)) ?? unknownMessage(messageId);

async function refuseUnknownLocale(tx: Transaction, workspaceId: number, localeId: string) {
  const locales = await selectLocales(tx, workspaceId);
  if (locales.some((locale) => locale.id === localeId)) return;
  throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
}
