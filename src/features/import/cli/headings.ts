import { NUMBERS, TEXTS } from "../../../cli/file-columns.ts";
import { STANDARD_ATTRIBUTES } from "../../../core/people/profiles/standard-attributes.ts";
import type { ImportKind } from "../import-kind.ts";

/*
 * The fields that people name in their own words. A heading is compared by its letters and digits: `E-Mail Address`,
 * `email_address` and `EmailAddress` are the same.
 */

const IDENTIFIERS: Readonly<Record<string, string>> = {
  external_id:
    "externaluserid customerid customernumber customerno userid clientid memberid kundenid kundennummer kundennr",
  email: "emailaddress mail mailaddress emailadresse mailadresse",
  phone:
    "phonenumber phoneno telephone telephonenumber mobile mobilenumber mobilephone cellphone telefon telefonnummer handy handynummer mobilnummer",
};

const MEANT: Readonly<Record<ImportKind, Readonly<Record<string, string>>>> = {
  users: {
    ...IDENTIFIERS,
    external_id: `${IDENTIFIERS.external_id} id`,
    first_name: "givenname forename vorname",
    last_name: "surname familyname nachname familienname",
    dob: "dateofbirth birthday birthdate geburtsdatum geburtstag",
    gender: "sex geschlecht",
    home_city: "city town stadt ort wohnort",
    country: "countrycode land",
    language: "languagecode preferredlanguage sprache",
  },
  events: {
    ...IDENTIFIERS,
    name: "event eventname",
    time: "timestamp eventtime date datetime",
  },
  purchases: {
    ...IDENTIFIERS,
    product_id: "sku productsku productnumber",
    price: "unitprice",
    quantity: "qty",
    currency: "currencycode",
    time: "timestamp purchasetime purchasedate orderdate date datetime",
  },
  subscriptions: IDENTIFIERS,
};

const compact = (heading: string): string =>
  heading.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");

export const isOwnField = (kind: ImportKind, name: string): boolean => ownFields(kind).has(name);

const ownFields = (kind: ImportKind): ReadonlySet<string> =>
  new Set([
    ...TEXTS[kind],
    ...NUMBERS[kind],
    ...(kind === "users" ? Object.keys(STANDARD_ATTRIBUTES) : []),
  ]);

/**
 * What headings mean: `First Name` is first_name, `Customer ID` is external_id unless another column is that by its own
 * name. Any other heading stays as it is.
 *
 * @param mapped the fields that other columns were given.
 */
export function fieldsOf(
  kind: ImportKind,
  headings: readonly string[],
  mapped: ReadonlySet<string>,
): string[] {
  const own = new Map([...ownFields(kind)].map((field) => [compact(field), field]));
  const meant = new Map(
    Object.entries(MEANT[kind]).flatMap(([field, words]) =>
      words.split(" ").map((word) => [word, field] as const),
    ),
  );
  const named = headings.map((heading) => own.get(compact(heading)));
  const taken = new Set([...mapped, ...named]);
  return headings.map((heading, index) => {
    const field = meant.get(compact(heading));
    return named[index] ?? (field === undefined || taken.has(field) ? heading : field);
  });
}
