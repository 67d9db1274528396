import type { Locale, Message } from "../../api/messages.ts";

/* Which strings of a message the grid shows, and which translations are missing. */

export interface StringFilter {
  /** Part of the id, the source or a translation; any case. */
  readonly find: string;
  /** Only strings without a translation in one of the locales. */
  readonly isMissing: boolean;
}

/** The ids of the strings to show, in the order of the message. */
export function shownStrings(
  { source, translations }: Message,
  locales: readonly Locale[],
  { find, isMissing }: StringFilter,
): readonly string[] {
  const maps = locales.map(({ locale_key }) => translations[locale_key] ?? {});
  const words = find.trim().toLowerCase();
  const holds = (text: string | undefined) => text?.toLowerCase().includes(words);
  return Object.entries(source).flatMap(([key, text]) => {
    if (isMissing && maps.every((map) => map[key])) return [];
    const isFound = !words || holds(key) || holds(text) || maps.some((map) => holds(map[key]));
    return isFound ? [key] : [];
  });
}

export const missingIn = ({ source, translations }: Message, { locale_key }: Locale): number => {
  const map = translations[locale_key] ?? {};
  return Object.keys(source).filter((key) => !map[key]).length;
};
