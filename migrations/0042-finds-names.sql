-- alongside the previous version: safe
--
-- Users are found by the words of their names (docs/decisions/search-by-name.md). The engine keeps the words, so no statement
-- that writes users knows of them, and one that leaves the names alone changes no index. Adding the column rewrites the
-- table, and building the indexes reads it; writes wait for both: 11 s for 1,000,000 users on PostgreSQL, 2 s for 100,000 on the embedded engine.

-- The words of the first and the last name in lower case, without accents and punctuation. Null without a name.
-- Most names take the first branch, because the second costs ten times as much.
-- src/features/user-records/search-store.ts has the second for a query.
alter table profiles add column name_words text collate "C" generated always as (
  case when standard_attributes ?| array['first_name', 'last_name'] then
    case when (coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C") ~ '^ ?[A-Za-z]+( [A-Za-z]+)* ?$'
    then lower(btrim((coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C")))
    else left(btrim(regexp_replace(regexp_replace(lower(replace(replace(replace(
      case when (coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C") ~ '[\u0370-\u052f]'
        then translate(normalize((coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C"), NFKD),
          'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЄІҐЂЈЉЊЋЏЅ',
          'αβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяєіґђјљњћџѕ')
        else translate(normalize((coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C"), NFKD), 'ØøŁłĐđÐðıĦħÆŒẞÞ', 'oollddddihhæœßþ') end,
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')),
      '[\u0300-\u036f''’]', '', 'g'),
      '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003]+', ' ', 'g')), 200) end
  end
) stored;

-- Each of the first five places of a word has an index; that of the first has the whole name, in the order of names.
create index profiles_by_name on profiles (workspace_id, name_words, profile_id) where name_words <> '';

create index profiles_by_word_2 on profiles (workspace_id, split_part(name_words, ' ', 2), profile_id)
  include (name_words) where split_part(name_words, ' ', 2) <> '';

create index profiles_by_word_3 on profiles (workspace_id, split_part(name_words, ' ', 3), profile_id)
  include (name_words) where split_part(name_words, ' ', 3) <> '';

create index profiles_by_word_4 on profiles (workspace_id, split_part(name_words, ' ', 4), profile_id)
  include (name_words) where split_part(name_words, ' ', 4) <> '';

create index profiles_by_word_5 on profiles (workspace_id, split_part(name_words, ' ', 5), profile_id)
  include (name_words) where split_part(name_words, ' ', 5) <> '';

-- Longer names, which are few, are all read for a word at a later place.
create index profiles_by_long_name on profiles (workspace_id, name_words, profile_id)
  where split_part(name_words, ' ', 6) <> '';
