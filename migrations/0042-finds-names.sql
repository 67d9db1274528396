-- alongside the previous version: unsafe, because it would not keep the words of names
--
-- Users are found by the words of their names (docs/decisions/search-by-name.md): in lower case, without accents and
-- punctuation; null without a name. The words of users who are there are computed while the table is rewritten: with the
-- indexes 11 to 25 s for 1,000,000 users on PostgreSQL beside other work, 2 s for 100,000 on the embedded engine.
alter table profiles add column name_words text;

-- As src/core/people/profiles/name-words-store.ts has it.
alter table profiles alter column name_words type text collate "C" using (
  case when standard_attributes ?| array['first_name', 'last_name'] then
    case when (coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C") ~ '^ ?[A-Za-z]+( [A-Za-z]+)* ?$' then lower(btrim((coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C")))
    else left(btrim(regexp_replace(regexp_replace(lower(replace(replace(replace(
      case when (coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C") ~ '[\u0370-\u052f]'
        then translate(normalize((coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C"), NFKD),
          'ØøŁłĐđÐðıĦħÆŒẞÞΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЄІҐЂЈЉЊЋЏЅ',
          'oollddddihhæœßþαβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяєіґђјљњћџѕ')
        else translate(normalize((coalesce(standard_attributes ->> 'first_name', '') || ' '
      || coalesce(standard_attributes ->> 'last_name', '') collate "C"), NFKD), 'ØøŁłĐđÐðıĦħÆŒẞÞ', 'oollddddihhæœßþ') end,
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')),
      '[\u0300-\u036f''’]', '', 'g'),
      '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003]+', ' ', 'g')), 200) end
  end
);

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
