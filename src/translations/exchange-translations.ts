import { isDeepStrictEqual } from "node:util";
import { recordChanges } from "../audit/audit.ts";
import type { TranslationMap } from "../campaigns/campaign.ts";
import { refuseFaulty } from "../campaigns/declarations.ts";
import type { ManageServices } from "../campaigns/manage-campaigns.ts";
import type { WorkspaceContext } from "../context/context.ts";
import { withRetries } from "../database/database.ts";
import { type ItemNote, noteOf } from "../http/verdicts.ts";
import { Problem } from "../problem.ts";
import type { Locale } from "./locale.ts";
import { lockMessageOf, readMessage, readWholeMessage } from "./manage-translations.ts";
import { type FileString, localeNamed, type TranslationFile } from "./translation-file.ts";
import { missingIds, saveTranslations } from "./write-translations.ts";

/*
 * Translations go out to translators as a file and come back as one. A file that comes back says what
 * each string was translated from: where the message says something else by now, or was never the one
 * that the file came from, the string is left alone and reported.
 */

/**
 * Everything that a file of a message holds: all locales of the workspace, also those that nothing is
 * translated into yet, or the one that is asked for.
 *
 * @throws Problem NOT_FOUND.
 */
export async function exportTranslations(
  services: Pick<ManageServices, "database">,
  context: WorkspaceContext,
  messageId: string,
  localeId: string | undefined,
): Promise<TranslationFile> {
  const { message, locales, translations } = await readMessage(services, context, messageId);
  const wanted = locales.filter((locale) => localeId === undefined || locale.id === localeId);
  if (localeId !== undefined && wanted.length === 0) {
    throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
  }
  const columns = wanted.map((locale) => ({ locale, map: translations.get(locale.id) ?? {} }));
  return { messageId, source: message.source, columns };
}

/** What an import did to a locale. */
export interface ImportedLocale {
  readonly locale: Locale;
  /** How many strings were set. */
  readonly count: number;
  /** Ids of the message that are still not translated. */
  readonly missing: readonly string[];
}

/** Why a string was left alone. */
type SkipCode = "UNKNOWN_TRANSLATION_ID" | "SOURCE_CHANGED" | "NOT_TRANSLATED";

/**
 * Sets the strings of a file; those that it does not have stay as they are. All or nothing.
 *
 * @throws Problem NOT_FOUND; INVALID_REQUEST for a locale that is not there, a string that stands
 *   twice or cannot be kept; TRANSLATIONS_TOO_LARGE.
 */
export async function importTranslations(
  { database, clock }: ManageServices,
  context: WorkspaceContext,
  messageId: string,
  strings: readonly FileString[],
): Promise<{ readonly imported: ImportedLocale[]; readonly skipped: ItemNote[] }> {
  const { workspace } = context;
  return withRetries(database, async (tx) => {
    const source = await lockMessageOf(tx, workspace.id, messageId, clock.now());
    const { locales, translations } = await readWholeMessage(tx, workspace.id, messageId);
    const skipped = strings.flatMap((each) => reasonToSkip(each, source) ?? []);
    const taken = strings.filter((each) => !reasonToSkip(each, source));
    const imported = [...groupByLocale(taken, locales)].map(([locale, map]) => ({
      locale,
      count: Object.keys(map).length,
      map: { ...translations.get(locale.id), ...map },
    }));
    await saveTranslations(
      tx,
      workspace.id,
      imported.map(({ locale, map }) => ({ messageId, localeId: locale.id, map })),
      false,
    );
    const changed = imported.filter(
      ({ locale, map }) => !isDeepStrictEqual(translations.get(locale.id), map),
    );
    const changes = changed.map(({ locale, map }) => ({
      action: translations.has(locale.id) ? "updated" : "created",
      kind: "translation",
      workspace: context.workspace.name,
      name: messageId,
      details: { locale_id: locale.id, strings: Object.keys(map).length },
    }));
    await recordChanges(tx, clock, context, changes);
    return {
      imported: imported.map(({ locale, count, map }) => ({
        locale,
        count,
        missing: missingIds(source, map),
      })),
      skipped,
    };
  });
}

function reasonToSkip(string: FileString, source: TranslationMap): ItemNote | undefined {
  const { id, localeKey, inputArray, index } = string;
  const skip = (code: SkipCode, reason: string) =>
    noteOf({ array: inputArray, index }, { code, message: `'${id}' in ${localeKey}: ${reason}` });
  const text = Object.hasOwn(source, id) ? source[id] : undefined;
  if (text === undefined) return skip("UNKNOWN_TRANSLATION_ID", "the message has no such string.");
  if (string.isDraft) return skip("NOT_TRANSLATED", "the file says that it is not translated.");
  if (string.source === undefined || sameText(string.source, text)) return undefined;
  return skip("SOURCE_CHANGED", "it was translated from another text than the message has.");
}

/** Tools rewrite blanks and line ends on the way. */
const sameText = (one: string, other: string): boolean => collapsed(one) === collapsed(other);

const collapsed = (text: string): string => text.replace(/\s+/g, " ").trim();

/** @throws Problem INVALID_REQUEST */
function groupByLocale(
  strings: readonly FileString[],
  locales: readonly Locale[],
): Map<Locale, TranslationMap> {
  const found = new Map<Locale, Map<string, string>>();
  const byKey = new Map<string, Locale>();
  for (const { localeKey, id, text } of strings) {
    const locale = byKey.get(localeKey) ?? localeNamed(localeKey, locales);
    byKey.set(localeKey, locale);
    const map = found.get(locale) ?? new Map<string, string>();
    if (map.has(id)) {
      throw new Problem("INVALID_REQUEST", `The file has '${id}' in ${localeKey} twice.`);
    }
    found.set(locale, map.set(id, text));
  }
  return new Map(
    [...found].map(([locale, map]) => {
      const strings = Object.fromEntries(map);
      refuseFaulty(strings, [locale.localeKey]);
      return [locale, strings];
    }),
  );
}
