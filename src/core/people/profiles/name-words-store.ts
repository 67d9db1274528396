/*
 * The words of a user's name, by which users are searched (docs/decisions/search-by-name.md). The engine folds them, in
 * the statements that write names and for the text of a search alike.
 */

type Attributes = Readonly<Record<string, unknown>>;

/** Whether standard attributes, or a patch of them, have a name. */
export const hasName = (attributes: Attributes | null): boolean =>
  attributes !== null && ("first_name" in attributes || "last_name" in attributes);

/** First and last name as they were sent; null without a name. */
export const sentName = (attributes: Attributes): string | null =>
  hasName(attributes) ? `${attributes.first_name ?? ""} ${attributes.last_name ?? ""}` : null;

/** The same of a `jsonb` in SQL, with a space alone for no name. */
export const sentNameOf = (attributes: string): string =>
  `(coalesce(${attributes} ->> 'first_name', '') || ' ' || coalesce(${attributes} ->> 'last_name', ''))`;

/**
 * The words of a text in SQL: in lower case, without accents and punctuation, one space between two. Most names take
 * the first branch, because the second costs five to fifteen times as much.
 */
export const wordsOf = (text: string): string => {
  const x = `(${text} collate "C")`;
  return `case when ${x} ~ '^ ?[A-Za-z]+( [A-Za-z]+)* ?$' then lower(btrim(${x}))
    else left(btrim(regexp_replace(regexp_replace(lower(replace(replace(replace(
      case when ${x} ~ '[\\u0370-\\u052f]'
        then translate(normalize(${x}, NFKD),
          'ØøŁłĐđÐðıĦħÆŒẞÞΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЄІҐЂЈЉЊЋЏЅ',
          'oollddddihhæœßþαβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяєіґђјљњћџѕ')
        else translate(normalize(${x}, NFKD), 'ØøŁłĐđÐðıĦħÆŒẞÞ', 'oollddddihhæœßþ') end,
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')),
      '[\\u0300-\\u036f''’]', '', 'g'),
      '[\\u0001-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u00bf\\u2000-\\u206f\\u3000-\\u3003]+', ' ', 'g')), 200) end`;
};
