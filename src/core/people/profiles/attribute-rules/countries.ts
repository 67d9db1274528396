import countries from "i18n-iso-countries/index.js";
import english from "i18n-iso-countries/langs/en.json" with { type: "json" };

/**
 * The ISO 3166-1 alpha-2 code of a country in upper case, undefined if there is none.
 *
 * Takes the alpha-2 or alpha-3 code or the English name, in any case; accents, punctuation, "the",
 * "and" or "&", "St." or "Saint" make no difference in a name. Kosovo has the code XK, which ISO
 * leaves to its users. docs/decisions/values.md
 */
export function countryCode(text: string): string | undefined {
  if (text.length > maxNameLength) return undefined;
  return codes.get(text.toUpperCase()) ?? codesByName.get(normalized(text));
}

/** No country's name is half as long. */
const maxNameLength = 100;

/** English names that the list of countries lacks: ISO's formal ones, everyday and former ones. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  AE: ["Emirates"],
  BN: ["Brunei"],
  BO: ["Bolivia, Plurinational State of", "Plurinational State of Bolivia"],
  BQ: ["Bonaire, Sint Eustatius and Saba", "Caribbean Netherlands", "Bonaire"],
  CC: ["Cocos Islands", "Keeling Islands"],
  CD: ["Congo, Democratic Republic of the", "DR Congo", "DRC", "Congo-Kinshasa", "Zaire"],
  CG: ["Congo-Brazzaville", "Congo Republic"],
  CN: ["Mainland China", "PRC"],
  CV: ["Cabo Verde"],
  FK: ["Falkland Islands", "Malvinas"],
  FM: ["Micronesia", "Federated States of Micronesia"],
  GB: ["United Kingdom of Great Britain and Northern Ireland", "Britain", "U.K."],
  HK: ["Hong Kong SAR", "Hong Kong SAR China"],
  HM: ["Heard and McDonald Islands"],
  IR: ["Iran, Islamic Republic of"],
  KP: ["Korea, Democratic People's Republic of", "Democratic People's Republic of Korea", "DPRK"],
  LA: ["Laos"],
  MD: ["Moldova", "Republic of Moldova"],
  MF: ["Saint Martin"],
  MK: ["Macedonia", "Macedonia, the former Yugoslav Republic of"],
  MM: ["Burma"],
  MO: ["Macau", "Macao SAR", "Macao SAR China"],
  PS: ["Palestine, State of", "Palestinian Territories"],
  RE: ["Réunion"],
  SH: ["Saint Helena, Ascension and Tristan da Cunha"],
  SK: ["Slovak Republic"],
  SX: ["Sint Maarten"],
  SY: ["Syria"],
  SZ: ["Swaziland"],
  TL: ["East Timor"],
  TZ: ["Tanzania, United Republic of"],
  UM: ["US Outlying Islands"],
  VA: ["Holy See", "Vatican", "Vatican City"],
  VE: ["Venezuela, Bolivarian Republic of", "Bolivarian Republic of Venezuela"],
  VG: ["British Virgin Islands"],
  VI: ["US Virgin Islands", "United States Virgin Islands"],
  VN: ["Viet Nam"],
};

// The package's entry point loads its names in all 80 languages; ours are English only.
countries.registerLocale(english);

/** Maps alpha-2 and alpha-3 codes to the alpha-2 code. */
const codes = new Map<string, string>();
for (const [alpha3, code] of Object.entries(countries.getAlpha3Codes())) {
  codes.set(alpha3, code).set(code, code);
}

const codesByName = new Map<string, string>();
for (const [code, names] of Object.entries(countries.getNames("en", { select: "all" }))) {
  for (const name of [...names, ...(otherNames[code] ?? [])]) {
    // Two countries share the short name "Congo"; ISO gives it to the first of them.
    if (!codesByName.has(normalized(name))) codesByName.set(normalized(name), code);
  }
}

function normalized(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain
    .replaceAll("&", " and ")
    .replace(/['’.]/g, "")
    .match(/[\p{L}\p{N}]+/gu);
  const significant = words?.filter((word) => word !== "the") ?? [];
  return significant.map((word) => (word === "st" ? "saint" : word)).join(" ");
}
