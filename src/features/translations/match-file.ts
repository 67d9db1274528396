import { Problem } from "../../core/base/problem.ts";
import { printable } from "../../core/base/values/describe-value.ts";
import { type ItemNote, noteOf } from "../../core/base/verdicts.ts";
import type { TranslationMap } from "../campaigns/feature.ts";
import { refuseFaulty } from "../campaigns/feature.ts";
import { type Locale, localeKeyForm, localesByKey } from "./locale.ts";
import type { FileString } from "./translation-file.ts";

/*
 * A file from translators contains the source of each string. A string whose source differs from the message,
 * or whose id the message lacks, is skipped and reported.
 */

type SkipCode = "UNKNOWN_TRANSLATION_ID" | "SOURCE_CHANGED" | "NOT_TRANSLATED";

/** The strings of a file to set, and those to skip. */
export interface MatchedFile {
  readonly imported: readonly { readonly locale: Locale; readonly map: TranslationMap }[];
  /** The first ones. */
  readonly skipped: readonly ItemNote[];
  readonly skippedCount: number;
}

/** The limit for one file, so that the event loop reads the result of the thread quickly. */
const MOST_STRINGS = 50_000;

const MOST_NOTES = 1_000;

/**
 * The limit for an id and a key in a sentence, in characters: a file may have longer ones than a
 * message.
 */
const LONGEST_ID = 255;
const LONGEST_KEY = 35;

/**
 * Compares the strings of a file with the strings of its message.
 *
 * @throws Problem INVALID_REQUEST for more than 50,000 strings, an unknown locale, a repeated or invalid
 *   string.
 */
export function matchFile(
  strings: readonly FileString[],
  source: TranslationMap,
  locales: readonly Locale[],
): MatchedFile {
  if (strings.length > MOST_STRINGS) {
    const sentence = `The file has ${strings.length} translated strings; the limit is ${MOST_STRINGS}. Import fewer locales at a time.`;
    throw new Problem("INVALID_REQUEST", sentence);
  }
  const taken: FileString[] = [];
  const skipped: ItemNote[] = [];
  for (const string of strings) {
    const note = reasonToSkip(string, source);
    if (!note) taken.push(string);
    else if (skipped.length < MOST_NOTES) skipped.push(note);
  }
  const skippedCount = strings.length - taken.length;
  const imported = [...groupByLocale(taken, locales)].map(([locale, map]) => ({ locale, map }));
  return { imported, skipped, skippedCount };
}

function reasonToSkip(string: FileString, source: TranslationMap): ItemNote | undefined {
  const { id, inputArray, index } = string;
  const skip = (code: SkipCode, reason: string) =>
    noteOf({ array: inputArray, index }, { code, message: `${stringIn(string)}: ${reason}` });
  const text = Object.hasOwn(source, id) ? source[id] : undefined;
  if (text === undefined) return skip("UNKNOWN_TRANSLATION_ID", "the message has no such string.");
  if (string.isDraft) return skip("NOT_TRANSLATED", "the file marks it as not translated.");
  if (string.source === undefined || sameText(string.source, text)) return undefined;
  return skip(
    "SOURCE_CHANGED",
    "it was translated from a different text than the message now has.",
  );
}

const stringIn = ({ id, localeKey }: FileString): string =>
  `'${printable(id, LONGEST_ID)}' in ${printable(localeKey, LONGEST_KEY)}`;

/** Translation tools change white space and line ends. */
const sameText = (one: string, other: string): boolean => collapsed(one) === collapsed(other);

const collapsed = (text: string): string => text.replace(/\s+/g, " ").trim();

function unknownLocale(key: string): never {
  const shown = printable(key, LONGEST_KEY);
  const sentence = `The file has the locale '${shown}', which is not a locale of the workspace.`;
  throw new Problem("INVALID_REQUEST", sentence);
}

/** @throws Problem INVALID_REQUEST */
function groupByLocale(
  strings: readonly FileString[],
  locales: readonly Locale[],
): Map<Locale, TranslationMap> {
  const found = new Map<Locale, Map<string, string>>();
  const byKey = localesByKey(locales);
  for (const string of strings) {
    const { localeKey, id, text } = string;
    const locale = byKey.get(localeKeyForm(localeKey)) ?? unknownLocale(localeKey);
    const map = found.get(locale) ?? new Map<string, string>();
    if (map.has(id)) {
      throw new Problem("INVALID_REQUEST", `The file has ${stringIn(string)} twice.`);
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
