/**
 * The time zone names of Ruby on Rails, which programs written with it send, and the IANA zones
 * they mean. Complete as of Rails 8.2. If versions of Rails differ, the newer meaning counts: "Samoa" is
 * the independent state, "Astana" shares the zone of Almaty.
 */

/** Zones that Rails calls by their city alone: "Buenos Aires", "Berlin". */
const namedByCity = `
  Africa: Cairo Casablanca Harare Monrovia Nairobi
  America: Argentina/Buenos_Aires Asuncion Bogota Caracas Chihuahua La_Paz Lima Mazatlan
  America: Mexico_City Monterrey Montevideo Puerto_Rico Santiago Tijuana
  Asia: Almaty Baghdad Baku Bangkok Chongqing Dhaka Hong_Kong Irkutsk Jakarta Jerusalem Kabul
  Asia: Kamchatka Karachi Kathmandu Kolkata Krasnoyarsk Kuala_Lumpur Kuwait Magadan Muscat
  Asia: Novosibirsk Riyadh Seoul Singapore Srednekolymsk Taipei Tashkent Tbilisi Tehran Tokyo
  Asia: Ulaanbaatar Urumqi Vladivostok Yakutsk Yerevan
  Atlantic: Azores
  Australia: Adelaide Brisbane Canberra Darwin Hobart Melbourne Perth Sydney
  Etc: UTC
  Europe: Amsterdam Athens Belgrade Berlin Bratislava Brussels Bucharest Budapest Copenhagen Dublin
  Europe: Helsinki Istanbul Kaliningrad Kyiv Lisbon Ljubljana London Madrid Minsk Moscow Paris
  Europe: Prague Riga Rome Samara Sarajevo Skopje Sofia Stockholm Tallinn Vienna Vilnius Volgograd
  Europe: Warsaw Zagreb Zurich
  Pacific: Auckland Fiji Guam Port_Moresby
`;

/** All others, from west to east. */
const namedOtherwise: Readonly<Record<string, string>> = {
  "International Date Line West": "Etc/GMT+12",
  "Midway Island": "Pacific/Midway",
  "American Samoa": "Pacific/Pago_Pago",
  Hawaii: "Pacific/Honolulu",
  Alaska: "America/Juneau",
  "Pacific Time (US & Canada)": "America/Los_Angeles",
  "Pacific Time (Canada)": "America/Vancouver",
  "Mountain Time (US & Canada)": "America/Denver",
  Alberta: "America/Edmonton",
  Arizona: "America/Phoenix",
  "Central Time (US & Canada)": "America/Chicago",
  Saskatchewan: "America/Regina",
  "Central America": "America/Guatemala",
  Guadalajara: "America/Mexico_City",
  "Eastern Time (US & Canada)": "America/New_York",
  "Indiana (East)": "America/Indiana/Indianapolis",
  Quito: "America/Lima",
  "Atlantic Time (Canada)": "America/Halifax",
  Georgetown: "America/Guyana",
  Newfoundland: "America/St_Johns",
  Brasilia: "America/Sao_Paulo",
  Greenland: "America/Nuuk",
  "Mid-Atlantic": "Atlantic/South_Georgia",
  "Cape Verde Is.": "Atlantic/Cape_Verde",
  Edinburgh: "Europe/London",
  "West Central Africa": "Africa/Algiers",
  Bern: "Europe/Zurich",
  Pretoria: "Africa/Johannesburg",
  "St. Petersburg": "Europe/Moscow",
  "Abu Dhabi": "Asia/Muscat",
  Ekaterinburg: "Asia/Yekaterinburg",
  Islamabad: "Asia/Karachi",
  Astana: "Asia/Almaty",
  Chennai: "Asia/Kolkata",
  Mumbai: "Asia/Kolkata",
  "New Delhi": "Asia/Kolkata",
  "Sri Jayawardenepura": "Asia/Colombo",
  Rangoon: "Asia/Yangon",
  Hanoi: "Asia/Bangkok",
  Beijing: "Asia/Shanghai",
  Osaka: "Asia/Tokyo",
  Sapporo: "Asia/Tokyo",
  "Solomon Is.": "Pacific/Guadalcanal",
  "New Caledonia": "Pacific/Noumea",
  "Marshall Is.": "Pacific/Majuro",
  Wellington: "Pacific/Auckland",
  "Chatham Is.": "Pacific/Chatham",
  "Nuku'alofa": "Pacific/Tongatapu",
  "Tokelau Is.": "Pacific/Fakaofo",
  Samoa: "Pacific/Apia",
};

function* citiesAndZones(): Generator<readonly [name: string, zone: string]> {
  for (const line of namedByCity.trim().split("\n")) {
    const [area, ...places] = line.trim().split(/:? /);
    for (const place of places) {
      const city = place.slice(place.lastIndexOf("/") + 1).replaceAll("_", " ");
      yield [city, `${area}/${place}`];
    }
  }
}

/** From the Rails name, as Rails spells it, to the IANA zone. */
export const railsTimeZones: ReadonlyMap<string, string> = new Map([
  ...citiesAndZones(),
  ...Object.entries(namedOtherwise),
]);
