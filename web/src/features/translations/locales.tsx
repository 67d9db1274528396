import { TextInput } from "@mantine/core";
import { Globe } from "lucide-react";
import { LOCALES, useChangeEntries } from "../../api/entries.ts";
import { type Locale, useLocales } from "../../api/messages.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";
import { required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";

const FIELDS = [
  ["name", "Name", "Spanish (Mexico)"],
  ["language", "Language", "es"],
  ["country", "Country", "MX"],
  ["locale_key", "Locale key", "es-MX"],
] as const;

const NARROW = { width: "8rem" };

const COLUMNS: readonly Column<Locale>[] = [
  column("Name", (each) => <DeclaredName of={each} />),
  column("Key", NARROW, ({ locale_key }) => <code>{locale_key}</code>),
  column("Language", NARROW, ({ language }) => language),
  column("Country", NARROW, ({ country }) => country),
];

export function Locales() {
  const { save, remove } = useChangeEntries(LOCALES);
  return (
    <Entries
      title="Locales"
      about="The languages that messages are translated into. Each is a column of the grid."
      noun="locale"
      icon={Globe}
      purpose="A locale is a language, with a country if you like, that messages are translated into."
      from={useLocales()}
      needs="send_campaigns_canvases"
      columns={COLUMNS}
      rows={({ locales }) => locales}
      initial={(locale: Locale = { id: newId(), ...NEW }) => ({ ...locale })}
      validate={{ language: required, locale_key: required }}
      fields={(form) =>
        FIELDS.map(([name, label, placeholder]) => (
          <TextInput
            key={name}
            label={label}
            placeholder={placeholder}
            {...form.getInputProps(name)}
          />
        ))
      }
      save={({ id, declared: _, ...locale }, isNew) => save(id, locale, isNew)}
      remove={({ id }) => remove(id)}
      removal="Translations into it are kept, and show again if the locale is added again."
    />
  );
}

const NEW = { name: "", country: "", language: "", locale_key: "", declared: false };
