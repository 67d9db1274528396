import iso6391 from "iso-639-1";

/**
 * The ISO 639-1 code of a language in lower case, undefined if there is none.
 *
 * Accepts the code in any case; a BCP 47 tag ("en-US", also written "en_US" as Java and Android
 * do), from which only the language is kept; or the English name of the language. Codes that ISO
 * has replaced ("iw") and three-letter codes ("deu") give the current code.
 * docs/decisions/values.md
 */
export function languageCode(text: string): string | undefined {
  if (text.length > maxLength) return undefined;
  const name = text.toLowerCase();
  return codesByName.get(name) ?? codeOfTag(name.replaceAll("_", "-"));
}

/** The limit for a name or a tag; the longest in use have about 35 characters. */
const maxLength = 100;

const codes: ReadonlySet<string> = new Set(iso6391.getAllCodes());

/** Names that people use and the list has otherwise. */
const otherNames = {
  castilian: "es",
  farsi: "fa",
  filipino: "tl",
  flemish: "nl",
  "haitian creole": "ht",
  mandarin: "zh",
  odia: "or",
  punjabi: "pa",
  slovene: "sl",
  uighur: "ug",
};

const codesByName = new Map<string, string>(Object.entries(otherNames));
for (const code of iso6391.getAllCodes()) {
  const name = iso6391.getName(code).toLowerCase();
  codesByName.set(name, code);
  codesByName.set(name.normalize("NFD").replace(/\p{M}/gu, ""), code);
}

function codeOfTag(tag: string): string | undefined {
  if (!isTag(tag)) return undefined;
  const [language = ""] = tag.split("-", 1);
  if (codes.has(language)) return language;
  const current = new Intl.Locale(language).language;
  // Phones report Filipino as "fil"; it is based on Tagalog, whose two-letter code it gets.
  if (current === "fil") return "tl";
  return codes.has(current) ? current : undefined;
}

/** Whether a text has the form of a BCP 47 tag. */
function isTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
