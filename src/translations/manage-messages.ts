import { isDeepStrictEqual } from "node:util";
import { type AuditedChange, type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import {
  type Database,
  type Queryable,
  readTogether,
  type Transaction,
  withRetries,
} from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { removeMessages, saveMessages } from "./apply-declarations.ts";
import {
  lockEngagement,
  type MessageRow,
  selectMessage,
  touchMessage,
} from "./engagement-store.ts";
import { selectLocales } from "./locale-store.ts";
import type { Locale, Message, TranslationMap } from "./message.ts";
import { deleteTranslations, selectTranslations } from "./translation-store.ts";
import { saveTranslations } from "./write-translations.ts";

export interface MessageServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** A message with everything that is known of it. */
export interface WholeMessage {
  readonly workspaceId: number;
  readonly message: MessageRow;
  /** All locales of the workspace, by key. */
  readonly locales: readonly Locale[];
  /** By locale id; a locale into which nothing is translated is missing. */
  readonly translations: ReadonlyMap<string, TranslationMap>;
}

/** @throws Problem NOT_FOUND. */
export async function readMessage(
  { database }: Pick<MessageServices, "database">,
  workspaceName: string,
  messageId: string,
): Promise<WholeMessage> {
  const { id } = await findWorkspace(database, workspaceName);
  return readTogether(database, (tx) => readWholeMessage(tx, id, messageId));
}

/** The same in a workspace that is known. */
export async function readWholeMessage(
  database: Queryable,
  workspaceId: number,
  messageId: string,
): Promise<WholeMessage> {
  const message = (await selectMessage(database, workspaceId, messageId)) ?? unknown(messageId);
  const locales = await selectLocales(database, workspaceId);
  const rows = await selectTranslations(database, workspaceId, [messageId]);
  const translations = new Map(rows.map((row) => [row.localeId, row.map]));
  return { workspaceId, message, locales, translations };
}

/**
 * Makes a message, or changes it. Its translations stay as they are: where it has new strings, the
 * source shows until they are translated.
 *
 * @throws Problem NOT_FOUND for the campaign, canvas or step, CONFLICT where the message belongs to
 *   another one.
 */
export async function putMessage(
  { database, clock }: MessageServices,
  workspaceName: string,
  origin: Origin,
  message: Message,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  const { kind, engagementId, stepId } = message;
  await withRetries(database, async (tx) => {
    const engagement = await lockEngagement(tx, id, kind, engagementId);
    if (!engagement) throw new Problem("NOT_FOUND", `There is no ${kind} '${engagementId}'.`);
    if (stepId !== null && !engagement.stepIds.includes(stepId)) {
      throw new Problem("NOT_FOUND", `The canvas '${engagementId}' has no step '${stepId}'.`);
    }
    const known = await selectMessage(tx, id, message.messageId);
    await saveMessages(tx, id, [message], { declared: false, now: clock.now(), movable: [] });
    if (known && isDeepStrictEqual(withoutLife(known), message)) return;
    const { channel, multiLanguage: multi_language } = message;
    await recordOf(tx, clock, workspaceName, origin, {
      action: known ? "updated" : "created",
      kind: "message",
      name: message.messageId,
      details: { [`${kind}_id`]: engagementId, channel, multi_language },
    });
  });
}

const withoutLife = ({ declared: _declared, updatedAt: _updatedAt, ...message }: MessageRow) =>
  message;

const recordOf = (
  tx: Transaction,
  clock: Clock,
  workspace: string,
  origin: Origin,
  change: AuditedChange,
): Promise<void> => recordChanges(tx, clock, origin, [{ ...change, workspace }]);

/** Removes a message with its translations. @throws Problem NOT_FOUND. */
export async function removeMessage(
  { database, clock }: MessageServices,
  workspaceName: string,
  origin: Origin,
  messageId: string,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await withRetries(database, async (tx) => {
    const removed = await removeMessages(tx, id, [messageId]);
    if (removed === 0) unknown(messageId);
    const change = { action: "removed", kind: "message", name: messageId };
    await recordOf(tx, clock, workspaceName, origin, change);
  });
}

/**
 * Sets the strings of a message in one locale. Some may be missing: the source shows for them.
 *
 * @throws Problem NOT_FOUND for the message or the locale; TRANSLATIONS_TOO_LARGE.
 */
export async function putTranslation(
  { database, clock }: MessageServices,
  workspaceName: string,
  origin: Origin,
  address: { readonly messageId: string; readonly localeId: string },
  map: TranslationMap,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  const { messageId, localeId } = address;
  await withRetries(database, async (tx) => {
    await lockMessage(tx, id, messageId, clock.now());
    await refuseUnknownLocale(tx, id, localeId);
    const present = await selectTranslations(tx, id, [messageId]);
    const known = present.find((each) => each.localeId === localeId);
    await saveTranslations(tx, id, [{ messageId, localeId, map }], false);
    if (known && isDeepStrictEqual(known.map, map)) return;
    await recordOf(tx, clock, workspaceName, origin, {
      action: known ? "updated" : "created",
      kind: "translation",
      name: messageId,
      details: { locale_id: localeId, strings: Object.keys(map).length },
    });
  });
}

/** Removes the strings of a message in one locale. @throws Problem NOT_FOUND. */
export async function removeTranslation(
  { database, clock }: MessageServices,
  workspaceName: string,
  origin: Origin,
  address: { readonly messageId: string; readonly localeId: string },
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await withRetries(database, async (tx) => {
    await lockMessage(tx, id, address.messageId, clock.now());
    if ((await deleteTranslations(tx, id, [address])) === 0) {
      throw new Problem("NOT_FOUND", "The message has no translation in this locale.");
    }
    await recordOf(tx, clock, workspaceName, origin, {
      action: "removed",
      kind: "translation",
      name: address.messageId,
      details: { locale_id: address.localeId },
    });
  });
}

/** Locks a message that must be there, and returns its strings. @throws Problem NOT_FOUND. */
export async function lockMessage(
  tx: Transaction,
  workspaceId: number,
  messageId: string,
  now: Date,
): Promise<TranslationMap> {
  const { source } = (await touchMessage(tx, workspaceId, messageId, now)) ?? unknown(messageId);
  return source;
}

async function refuseUnknownLocale(tx: Transaction, workspaceId: number, localeId: string) {
  const locales = await selectLocales(tx, workspaceId);
  if (locales.some((locale) => locale.id === localeId)) return;
  throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
}

function unknown(messageId: string): never {
  throw new Problem("NOT_FOUND", `There is no message '${messageId}'.`);
}
