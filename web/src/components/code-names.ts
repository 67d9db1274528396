/* Values that are codes, with the names that people know them by. */

export interface NamedCode {
  readonly value: string;
  readonly label: string;
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const PAIRS = LETTERS.flatMap((one) => LETTERS.map((other) => one + other));

/** Codes of two letters that are no country: unions, parts of countries, tests, and what is not known. */
const NO_COUNTRIES = "AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ".split(" ");

type Kind = "region" | "language" | "currency";

/** Whether a part of a locale is in use: "DD" was a country. */
const isPresent = (locale: string): boolean => Intl.getCanonicalLocales(locale)[0] === locale;

const CODES: Readonly<Record<Kind, () => readonly string[]>> = {
  region: () => PAIRS.filter((code) => !NO_COUNTRIES.includes(code) && isPresent(`und-${code}`)),
  language: () => PAIRS.map((code) => code.toLowerCase()).filter(isPresent),
  currency: () => Intl.supportedValuesOf("currency"),
};

/** In English, as the pages are, and in the reader's language: "Germany (DE)", which "Deutschland" finds too. */
function named(type: Kind): readonly (NamedCode & { readonly own: string })[] {
  const english = new Intl.DisplayNames("en", { type, fallback: "none" });
  const own = new Intl.DisplayNames(undefined, { type, fallback: "none" });
  return CODES[type]()
    .flatMap((value) => {
      const name = english.of(value);
      return name ? { value, label: `${name} (${value})`, own: own.of(value) ?? "" } : [];
    })
    .sort((one, other) => one.label.localeCompare(other.label, "en"));
}

const known = new Map<Kind, ReturnType<typeof named>>();

function codesOf(type: Kind) {
  const codes = known.get(type) ?? named(type);
  known.set(type, codes);
  return codes;
}

const GENDERS: readonly NamedCode[] = [
  { value: "F", label: "Female (F)" },
  { value: "M", label: "Male (M)" },
  { value: "O", label: "Other (O)" },
  { value: "N", label: "Not applicable (N)" },
  { value: "P", label: "Prefer not to say (P)" },
];

const CODED: ReadonlyMap<string, () => readonly NamedCode[]> = new Map([
  ["country", () => codesOf("region")],
  ["language", () => codesOf("language")],
  ["money_spent", () => codesOf("currency")],
  ["gender", () => GENDERS],
]);

/** The codes that a standard attribute or `money_spent` can have, by name; undefined if it has none. */
export const codesFor = (name: string): readonly NamedCode[] | undefined => CODED.get(name)?.();

/** Whether what somebody types finds a code. */
export function findsCode(code: NamedCode, typed: string): boolean {
  const own = "own" in code ? String(code.own) : "";
  return `${code.label} ${own}`.toLowerCase().includes(typed.trim().toLowerCase());
}

/** A value of a standard attribute as people know it; the value itself if it is no code. */
export const nameOfValue = (attribute: string, value: unknown): string =>
  codesFor(attribute)?.find((each) => each.value === value)?.label ?? String(value);
