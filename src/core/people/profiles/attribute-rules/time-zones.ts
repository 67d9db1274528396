/*
 * rails-time-zones.json has the time zone names of Ruby on Rails, which programs written with it send, and the IANA
 * zones they mean. Complete as of Rails 8.2. If versions of Rails differ, the newer meaning counts: "Samoa" is the
 * independent state, "Astana" shares the zone of Almaty.
 */
import railsTimeZones from "./rails-time-zones.json" with { type: "json" };

/**
 * The IANA name of a time zone, undefined if there is no such zone.
 *
 * Takes an IANA name in any case or a Rails name in any case. Returns the current spelling: links
 * give their zone ("US/Eastern" gives "America/New_York"), renamed zones their present name
 * ("Asia/Calcutta" gives "Asia/Kolkata"); all names of universal time give "UTC". IANA's names without a place
 * ("EST", "CET", "EST5EDT") stay what they are, though IANA links them to places by now: "EST" says nothing of Panama.
 * Abbreviations that several zones share ("IST") and offsets are no zones. docs/decisions/values.md
 */
export function timeZoneName(text: string): string | undefined {
  const lowerCase = text.toLowerCase();
  if (knownNames.size === 0) learnRailsNames();
  const known = knownNames.get(lowerCase);
  if (known !== undefined || text.length > maxNameLength) return known;
  if (namesWithoutPlace.has(lowerCase)) return text.toUpperCase();
  const isName = text.includes("/") || namesWithoutArea.has(lowerCase);
  const name = isName ? canonicalName(lowerCase) : undefined;
  // Only existing names are cached, so the map stays small.
  if (name !== undefined) knownNames.set(lowerCase, name);
  return name;
}

/** The longest names have about 32 characters; longer texts need not be looked up. */
const maxNameLength = 50;

/**
 * Names in Unicode's data, and so in Node, that IANA has since replaced.
 */
const renamedZones: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** IANA's own names of places without a slash. Node also takes abbreviations, which are not among them. */
const namesWithoutArea = new Set(
  (
    "cuba egypt eire gb gb-eire gmt gmt+0 gmt-0 gmt0 greenwich " +
    "hongkong iceland iran israel jamaica japan kwajalein libya navajo nz " +
    "nz-chat poland portugal prc roc rok singapore turkey uct universal utc w-su zulu"
  ).split(" "),
);

const namesWithoutPlace = new Set(
  "cet cst6cdt eet est est5edt hst met mst mst7mdt pst8pdt wet".split(" "),
);

/** From a lower-case name to the name in use: the Rails names, and every name looked up so far. */
const knownNames = new Map<string, string>();

/** Filled on the first look-up, because Node takes a while to list all zones. */
function learnRailsNames(): void {
  for (const [railsName, zone] of Object.entries(railsTimeZones)) {
    knownNames.set(railsName.toLowerCase(), canonicalName(zone) ?? zone);
  }
}

/** Node also knows zones named SystemV/…, which IANA no longer has. */
function canonicalName(text: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions();
    return timeZone.startsWith("SystemV/") ? undefined : (renamedZones[timeZone] ?? timeZone);
  } catch {
    return undefined;
  }
}
