import Type, { type Static } from "typebox";
import { Name } from "../../core/admin/workspaces/manifest.ts";
import { ClosedObject, named, patterned, Text } from "../../core/base/values/schemas.ts";
import { Uuid } from "../campaigns/feature.ts";

/** A language of a workspace. Ids are UUIDs in lower case. */
export interface Locale {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly language: string;
  /** Such as `es-MX`; unique in the workspace by `localeKeyForm`. */
  readonly localeKey: string;
}

/** Equal for all spellings of a key: tools change its case and separator. */
export const localeKeyForm = (key: string): string => key.toLowerCase().replaceAll("_", "-");

export const localesByKey = (locales: readonly Locale[]): ReadonlyMap<string, Locale> =>
  new Map(locales.map((locale) => [localeKeyForm(locale.localeKey), locale]));

export const localeMembers = {
  name: Name,
  country: Type.String({ maxLength: 255 }),
  language: Name,
  locale_key: Type.String({
    maxLength: 35,
    ...patterned(
      "^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*$",
      "must be a language with an optional country, such as es or es-MX",
    ),
    description: "Such as es-MX.",
  }),
};

export const DeclaredLocale = ClosedObject({ id: Uuid, ...localeMembers });

export const localeOf = ({ id, locale_key, ...rest }: Static<typeof DeclaredLocale>): Locale => ({
  id: id.toLowerCase(),
  ...rest,
  localeKey: locale_key,
});

/** A locale in replies. Public: uuid and locale_key beside the specification's members. */
export const LocaleView = named(
  "LocaleOfTranslation",
  {
    uuid: Text("The id.", "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"),
    name: Type.String(),
    country: Type.String(),
    language: Type.String(),
    locale_key: Type.String(),
  },
  { description: "The locale." },
);

export const localeView = (locale: Locale): Static<typeof LocaleView> => ({
  uuid: locale.id,
  name: locale.name,
  country: locale.country,
  language: locale.language,
  locale_key: locale.localeKey,
});
