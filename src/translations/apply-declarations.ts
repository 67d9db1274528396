import type { Static } from "typebox";
import { isDuplicate, type Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { type Change, describe, difference, type SectionTarget } from "../workspaces/section.ts";
import {
  type DeclaredLocale,
  type EngagementWithMessages,
  localeOf,
  type MessageWithTranslations,
} from "./declarations.ts";
import {
  deleteEngagements,
  deleteMessages,
  deleteMessagesOf,
  selectEngagements,
  selectMessages,
  upsertEngagements,
  upsertMessages,
} from "./engagement-store.ts";
import { deleteLocales, selectLocales, upsertLocales } from "./locale-store.ts";
import { type EngagementKind, type Locale, localeKeyForm, type Message } from "./message.ts";
import { refuseTwice } from "./place.ts";
import {
  deleteTranslations,
  deleteTranslationsOf,
  selectTranslations,
} from "./translation-store.ts";
import { saveTranslations } from "./write-translations.ts";

/**
 * Makes the declared locales what a manifest says. A locale that goes takes no translations with it:
 * they hold again when it comes back.
 */
export async function applyLocales(
  tx: Transaction,
  target: SectionTarget,
  entries: readonly Static<typeof DeclaredLocale>[],
): Promise<Change[]> {
  const wanted = entries.map(localeOf);
  const keys = wanted.map((each) => localeKeyForm(each.localeKey));
  refuseTwice(["locales"], "locale_key", keys);
  const ids = wanted.map((each) => each.id);
  refuseTwice(["locales"], "id", ids);
  const present = await selectLocales(tx, target.workspaceId);
  const declared = present.filter((each) => each.declared).map(withoutFlag);
  const todo = difference(declared, wanted, (locale) => locale.id);
  await deleteLocales(
    tx,
    target.workspaceId,
    todo.removed.map((locale) => locale.id),
  );
  await saveLocales(tx, target.workspaceId, [...todo.created, ...todo.updated], true);
  return describe("locale", target.workspaceName, todo, (locale) => locale.name);
}

export const withoutFlag = ({ declared: _, ...rest }: Locale & { declared: boolean }): Locale =>
  rest;

/** Makes or changes locales. @throws Problem CONFLICT where a key is taken. */
export async function saveLocales(
  tx: Transaction,
  workspaceId: number,
  locales: readonly Locale[],
  declared: boolean,
): Promise<void> {
  await upsertLocales(tx, workspaceId, locales, declared).catch((error) => {
    if (!isDuplicate(error)) throw error;
    const keys = locales.map((locale) => `'${locale.localeKey}'`).join(", ");
    throw new Problem("CONFLICT", `Another locale has the locale_key already, of ${keys}.`);
  });
}

/**
 * Makes the declared campaigns or canvases what a manifest says, with their messages and the
 * translations in it. What the admin API or an update added to them stays.
 *
 * @throws Problem CONFLICT where a message belongs to another campaign or canvas.
 */
export async function applyEngagements(
  tx: Transaction,
  target: SectionTarget,
  kind: EngagementKind,
  entries: readonly EngagementWithMessages[],
): Promise<Change[]> {
  const { workspaceId, now } = target;
  const place = [kind === "campaign" ? "campaigns" : "canvases"];
  const ids = entries.map((each) => each.id);
  refuseTwice(place, "id", ids);
  const messageIds = entries.flatMap((each) => each.messages).map((each) => each.messageId);
  refuseTwice(place, "message", messageIds);

  const present = await readDeclared(tx, workspaceId, kind);
  const wanted = withPresentTranslations(entries, present);
  const todo = difference(present, wanted, (each) => each.id);
  const goneIds = todo.removed.map((each) => each.id);
  await removeEngagements(tx, workspaceId, kind, goneIds);
  const changedIds = new Set([...todo.created, ...todo.updated].map((each) => each.id));
  const changed = entries.filter((each) => changedIds.has(each.id));
  await upsertEngagements(tx, workspaceId, kind, changed, true);
  const before = present.filter((each) => changedIds.has(each.id)).flatMap((each) => each.messages);
  const after = changed.flatMap((each) => each.messages);
  await saveMessages(tx, workspaceId, after, { declared: true, now, movable: [...changedIds] });
  await removeMessages(tx, workspaceId, idsMissing(before, after));
  await replaceTranslations(tx, workspaceId, before, after);
  return describe(kind, target.workspaceName, todo, (each) => each.name);
}

/** What manifests have declared so far, in the form of a declaration. */
async function readDeclared(
  tx: Transaction,
  workspaceId: number,
  kind: EngagementKind,
): Promise<EngagementWithMessages[]> {
  const engagements = (await selectEngagements(tx, workspaceId, kind)).filter(isDeclared);
  const messages = (await selectMessages(tx, workspaceId, kind)).filter(isDeclared);
  const messageIds = messages.map((message) => message.messageId);
  const translations = (await selectTranslations(tx, workspaceId, messageIds)).filter(isDeclared);
  const translationsOfMessage = groupBy(translations, (each) => each.messageId);
  const messagesOfEngagement = groupBy(messages, (each) => each.engagementId);
  return engagements.map(({ id, name, stepIds }) => ({
    id,
    name,
    stepIds,
    messages: (messagesOfEngagement.get(id) ?? []).map(
      ({ declared: _, updatedAt: __, ...message }) => {
        const found = translationsOfMessage.get(message.messageId) ?? [];
        const maps = found.map((each) => [each.localeId, each.map]);
        return { ...message, translations: Object.fromEntries(maps) };
      },
    ),
  }));
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const isDeclared = (row: { readonly declared: boolean }): boolean => row.declared;

/** Translations that a declaration does not speak of are no difference. */
function withPresentTranslations(
  entries: readonly EngagementWithMessages[],
  present: readonly EngagementWithMessages[],
): EngagementWithMessages[] {
  const known = new Map(
    present.flatMap((each) => each.messages).map((each) => [each.messageId, each.translations]),
  );
  return entries.map((entry) => ({
    ...entry,
    messages: entry.messages.map((message) => ({
      ...message,
      translations: message.translations ?? known.get(message.messageId) ?? {},
    })),
  }));
}

const idsMissing = (before: readonly Message[], after: readonly Message[]): string[] => {
  const kept = new Set(after.map((message) => message.messageId));
  return before.map((message) => message.messageId).filter((id) => !kept.has(id));
};

/** Makes or changes messages. @throws Problem CONFLICT where one belongs elsewhere. */
export async function saveMessages(
  tx: Transaction,
  workspaceId: number,
  messages: readonly Message[],
  options: { readonly declared: boolean; readonly now: Date; readonly movable: readonly string[] },
): Promise<void> {
  const written = new Set(await upsertMessages(tx, workspaceId, messages, options));
  const foreign = messages.find((message) => !written.has(message.messageId));
  if (!foreign) return;
  const rule = "belongs to another campaign or canvas";
  throw new Problem("CONFLICT", `The message '${foreign.messageId}' ${rule}.`);
}

/** Only of messages whose declaration speaks of them: others may be translated at this moment. */
async function replaceTranslations(
  tx: Transaction,
  workspaceId: number,
  before: readonly MessageWithTranslations[],
  after: readonly MessageWithTranslations[],
): Promise<void> {
  const spokenOf = new Set(after.filter((each) => each.translations).map((each) => each.messageId));
  const wanted = after.flatMap(translationsOf);
  const kept = new Set(wanted.map((each) => `${each.messageId} ${each.localeId}`));
  const gone = before
    .filter((each) => spokenOf.has(each.messageId))
    .flatMap(translationsOf)
    .filter((each) => !kept.has(`${each.messageId} ${each.localeId}`));
  if (gone.length > 0) await deleteTranslations(tx, workspaceId, gone);
  await saveTranslations(tx, workspaceId, wanted, true);
}

const translationsOf = ({ messageId, translations }: MessageWithTranslations) =>
  Object.entries(translations ?? {}).map(([localeId, map]) => ({ messageId, localeId, map }));

/** Removes campaigns or canvases with everything in them. @returns how many were there. */
export async function removeEngagements(
  tx: Transaction,
  workspaceId: number,
  kind: EngagementKind,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const removed = await deleteEngagements(tx, workspaceId, kind, ids);
  const messages = await deleteMessagesOf(tx, workspaceId, kind, ids);
  await deleteTranslationsOf(tx, workspaceId, messages);
  return removed;
}

/** Removes messages with their translations. @returns how many were there. */
export async function removeMessages(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const removed = await deleteMessages(tx, workspaceId, ids);
  await deleteTranslationsOf(tx, workspaceId, removed);
  return removed.length;
}
