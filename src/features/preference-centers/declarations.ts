import Type, { type Static } from "typebox";
import { DeclaredId } from "../../core/admin/workspaces/manifest.ts";
import { ClosedObject, nullable } from "../../core/base/values/schemas.ts";
import { DEFAULT_OPTIONS, DEFAULT_TITLE, type DeclaredCenter } from "./center.ts";
import {
  localeOf,
  Options,
  optionsOf,
  State,
  Title,
  Translations,
  translationsOf,
} from "./content-form.ts";
import { DEFAULT_CONFIRMATION, DEFAULT_PAGE } from "./default-page.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";

/* How a center is written in a manifest and in the admin API. */

export const CenterId = Type.Refine(
  DeclaredId,
  (id) => id !== "list",
  () => "must not be list, which is a path of the API",
);

export const centerMembers = {
  name: Type.String(),
  title: Type.Optional(Title),
  state: Type.Optional(State),
  page_html: Type.Optional(
    Type.String({ description: "Without it the center has the built-in page." }),
  ),
  confirmation_html: Type.Optional(Type.String({ description: "The page shown after saving." })),
  redirect_url: Type.Optional(
    nullable(Type.String(), {
      description: "A URL to open after saving, instead of the confirmation.",
    }),
  ),
  options: Type.Optional(Options),
  locale: Type.Optional(Type.String({ description: "The language that the pages are in: en." })),
  translations: Type.Optional(Translations),
};

export const DeclaredCenterForm = ClosedObject({ id: CenterId, ...centerMembers });

/** A declared center with its defaults filled in; it is not checked yet. */
export function centerOf(declared: Static<typeof DeclaredCenterForm>): DeclaredCenter {
  const { id, name, title, state, page_html, confirmation_html, redirect_url } = declared;
  const { options, locale, translations } = declared;
  // The built-in pages have translations; a page that a team wrote brings its own.
  const isReady = page_html === undefined || confirmation_html === undefined;
  return {
    id,
    name,
    title: title ?? DEFAULT_TITLE,
    state: state ?? "active",
    pageHtml: page_html ?? DEFAULT_PAGE,
    confirmationHtml: confirmation_html ?? DEFAULT_CONFIRMATION,
    redirectUrl: redirect_url ?? null,
    options: options ? optionsOf(options) : DEFAULT_OPTIONS,
    locale: locale === undefined ? "en" : localeOf(locale),
    translations: translations ? translationsOf(translations) : isReady ? DEFAULT_TEXTS : {},
  };
}
