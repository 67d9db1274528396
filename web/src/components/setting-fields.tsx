import { type AutocompleteProps, PasswordInput, Select, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { Fragment, type ReactNode } from "react";
import type { Schemas } from "../api/client.ts";
import { sentence } from "./tag.tsx";

export type Setting = Schemas["SourceSetting"];

/** The values of a form that has such fields: texts by the names of the settings. */
export interface WithSettings {
  readonly settings: Readonly<Record<string, string>>;
}

interface SettingFieldsProps<Values extends WithSettings> {
  readonly form: UseFormReturnType<Values>;
  readonly settings: readonly Setting[];
  /** The field of a listed setting; by default one for text. */
  readonly listed?: (field: Omit<AutocompleteProps, "data">) => ReactNode;
}

/** Fields for the settings of a kind: nothing here knows what kinds there are. */
export function SettingFields<Values extends WithSettings>({
  form,
  settings,
  listed,
}: SettingFieldsProps<Values>) {
  return settings.map(({ name, description, required, secret, options, ...setting }) => {
    const field = {
      label: sentence(name),
      description,
      withAsterisk: required,
      ...form.getInputProps(`settings.${name}`),
    };
    if (setting.listed && listed) return <Fragment key={name}>{listed(field)}</Fragment>;
    if (options.length > 0)
      return <Select allowDeselect key={name} clearable data={[...options]} {...field} />;
    if (secret) return <PasswordInput key={name} autoComplete="new-password" {...field} />;
    return <TextInput key={name} autoComplete="off" {...field} />;
  });
}

/** Empty texts for all settings, so that every field has a value from the beginning. */
export const emptySettings = (settings: readonly Setting[]): Record<string, string> =>
  Object.fromEntries(settings.map(({ name }) => [name, ""]));

/** The filled-in settings of one kind. */
export const filledIn = (
  settings: readonly Setting[],
  { settings: values }: WithSettings,
): Record<string, string> =>
  Object.fromEntries(
    settings.flatMap(({ name }) => {
      const value = values[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );

/** Which required settings are missing, as errors of a form. */
export const missingIn = (
  settings: readonly Setting[],
  { settings: values }: WithSettings,
): Record<string, string> =>
  Object.fromEntries(
    settings.flatMap(({ name, required }) =>
      required && !values[name]?.trim() ? [[`settings.${name}`, "Required."]] : [],
    ),
  );
