import { isDeepStrictEqual } from "node:util";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  defineWork,
  type ThreadPool,
  type ThreadTask,
  WorkExceeded,
} from "../../core/base/threads/thread-pool.ts";
import type { ItemNote } from "../../core/base/verdicts.ts";
import { withRetries } from "../../core/database/database.ts";
import type { TextServices, TranslationMap } from "../campaigns/feature.ts";
import type { FileOrProblem, readFile, writeFile } from "./file-work.ts";
import type { Locale } from "./locale.ts";
import { lockMessageOf, readMessage, readWholeMessage } from "./manage-translations.ts";
import type { MatchedFile } from "./match-file.ts";
import type { FileFormat } from "./translation-file.ts";
import { missingIds, saveTranslations } from "./write-translations.ts";

/* Translations are exported to translators and imported from them as files, which threads write and read. */

const FILE_WORK = import.meta.resolve("./file-work.js");
const READ = defineWork<typeof readFile>(FILE_WORK, "readFile", 10_000);
const WRITE = defineWork<typeof writeFile>(FILE_WORK, "writeFile", 10_000);

async function onThread<Input, Result>(
  threads: ThreadPool,
  work: ThreadTask<Input, FileOrProblem<Result>>,
  workspaceId: number,
  input: Input,
): Promise<Result> {
  const done = await threads.run(work, workspaceId, input).catch((error) => {
    if (!(error instanceof WorkExceeded)) throw error;
    throw new Problem("INVALID_REQUEST", `The file takes too much ${error.budget}.`);
  });
  if ("result" in done) return done.result;
  const { code, message, body } = done.problem;
  throw new Problem(code, message, body && { body });
}

/**
 * Writes a message as a file, with all locales of the workspace or the requested one.
 *
 * @throws Problem NOT_FOUND; CONFLICT if XML cannot contain a string.
 */
export async function exportTranslations(
  services: Pick<TextServices, "database" | "threads">,
  context: WorkspaceContext,
  messageId: string,
  { localeId, ...form }: FileForm,
): Promise<string> {
  const { message, locales, translations } = await readMessage(services, context, messageId);
  const wanted = locales.filter((locale) => localeId === undefined || locale.id === localeId);
  if (localeId !== undefined && wanted.length === 0) {
    throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
  }
  const columns = wanted.map((locale) => ({ locale, map: translations.get(locale.id) ?? {} }));
  const file = { messageId, source: message.source, columns };
  return onThread(services.threads, WRITE, context.workspace.id, { file, ...form });
}

export interface FileForm {
  readonly format: FileFormat;
  /** Only this one. */
  readonly localeId: string | undefined;
  /** For XLIFF. */
  readonly sourceLanguage?: string | undefined;
}

export interface ImportedLocale {
  readonly locale: Locale;
  /** How many strings were set. */
  readonly count: number;
  /** Ids of the message that are still not translated. */
  readonly missing: readonly string[];
}

export interface Imported {
  readonly imported: readonly ImportedLocale[];
  readonly skipped: readonly ItemNote[];
  readonly skippedCount: number;
}

/** If the message changes while its file is read, the file is compared again. */
const TRIES = 5;

/**
 * Sets the strings of a file, all or none; strings missing from the file are unchanged.
 *
 * @throws Problem NOT_FOUND; INVALID_REQUEST for an unreadable file, or what `matchFile` refuses;
 *   TRANSLATIONS_TOO_LARGE; CONFLICT if the message keeps changing.
 */
export async function importTranslations(
  services: TextServices,
  context: WorkspaceContext,
  messageId: string,
  file: { readonly format: FileFormat; readonly text: string },
): Promise<Imported> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { message, locales } = await readMessage(services, context, messageId);
    const { source } = message;
    const input = { ...file, source, locales };
    const matched = await onThread(services.threads, READ, context.workspace.id, input);
    const done = await saveFile(services, context, messageId, source, matched);
    if (done) return done;
  }
  throw new Problem("CONFLICT", "The message was changed meanwhile. Import the file again.");
}

/** @returns undefined if the message has changed since the file was compared with it. */
function saveFile(
  { database, clock }: TextServices,
  context: WorkspaceContext,
  messageId: string,
  comparedWith: TranslationMap,
  matched: MatchedFile,
): Promise<Imported | undefined> {
  const { workspace } = context;
  return withRetries(database, async (tx) => {
    const source = await lockMessageOf(tx, workspace.id, messageId, clock.now());
    const { locales, translations } = await readWholeMessage(tx, workspace.id, messageId);
    const known = new Set(locales.map(({ id }) => id));
    const isSame = matched.imported.every(({ locale }) => known.has(locale.id));
    if (!isSame || !isDeepStrictEqual(source, comparedWith)) return undefined;
    const imported = matched.imported.map(({ locale, map }) => ({
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
    const { skipped, skippedCount } = matched;
    return {
      imported: imported.map(({ locale, count, map }) => ({
        locale,
        count,
        missing: missingIds(source, map),
      })),
      skipped,
      skippedCount,
    };
  });
}
