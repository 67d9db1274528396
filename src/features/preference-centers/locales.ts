import type { CenterContent } from "./center.ts";

/* The language of a page: the user's, then the browser's, then the source. */

/** The languages of a reader, as far as they are known. */
export interface ReaderLanguages {
  /** ISO 639-1, from the profile. */
  readonly language: string | undefined;
  /** ISO 3166-1, from the profile. */
  readonly country: string | undefined;
  readonly acceptLanguage: string | undefined;
}

/** The stored form of a BCP 47 tag: `ES_mx` as `es-MX`. Undefined for text that is not a tag. */
export function localeTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
}

/** ISO 639 languages whose usual script is written from right to left. */
const RIGHT_TO_LEFT = new Set("ar arc ckb dv fa he ks ps sd ug ur yi".split(" "));

/** Which way a language is written: the `dir` of its page. */
export const directionOf = (locale: string): "ltr" | "rtl" =>
  RIGHT_TO_LEFT.has(locale.split("-", 1)[0] ?? "") ? "rtl" : "ltr";

/** The locale of a page: one of its translations, or the language it is written in. */
export function chooseLocale(
  { locale, translations }: Pick<CenterContent, "locale" | "translations">,
  { language, country, acceptLanguage }: ReaderLanguages,
): string {
  const offered = [locale, ...Object.keys(translations)];
  if (offered.length === 1) return locale;
  const own = language === undefined ? [] : [country ? `${language}-${country}` : language];
  for (const wanted of [...own, ...acceptedLanguages(acceptLanguage)]) {
    const found = closest(wanted, offered);
    if (found !== undefined) return found;
  }
  return locale;
}

/** The tag itself, or else the language alone, or else the language in another country. */
function closest(wanted: string, offered: readonly string[]): string | undefined {
  const tag = wanted.toLowerCase();
  const language = tag.split("-", 1)[0];
  return (
    offered.find((each) => each.toLowerCase() === tag) ??
    offered.find((each) => each.toLowerCase() === language) ??
    offered.find((each) => each.toLowerCase().split("-", 1)[0] === language)
  );
}

/** More than any browser sends. */
const MOST_LANGUAGES = 20;

const LANGUAGE = /^([a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:\s*;\s*q=([01](?:\.\d{0,3})?))?$/i;

/** RFC 9110, 12.5.4: the languages of the header, the most wanted first. */
function acceptedLanguages(header = ""): string[] {
  return header
    .split(",", MOST_LANGUAGES)
    .flatMap((entry) => {
      const [, tag, weight = "1"] = LANGUAGE.exec(entry.trim()) ?? [];
      return tag !== undefined && Number(weight) > 0 ? [{ tag, weight: Number(weight) }] : [];
    })
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
