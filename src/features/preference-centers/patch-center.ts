import { patchingOf } from "../../core/admin/workspaces/merge-patch.ts";
import { ClosedObject } from "../../core/base/values/schemas.ts";
import type { CenterContent, DeclaredCenter } from "./center.ts";
import { translationsOf } from "./content-form.ts";
import { centerMembers, centerOf } from "./declarations.ts";
import { DEFAULT_CONFIRMATION, DEFAULT_PAGE } from "./default-page.ts";

/** A body that its schema has checked. */
interface Patch extends Readonly<Record<string, unknown>> {
  readonly options?: Readonly<Record<string, unknown>> | null;
  readonly translations?: Readonly<Record<string, unknown>> | null;
}

export const CENTER_PATCHING = patchingOf(ClosedObject(centerMembers));

/** The center with the members of a PATCH. @throws Problem INVALID_REQUEST */
export function patchCenter(id: string, present: CenterContent, patch: Patch): DeclaredCenter {
  const { pageHtml, confirmationHtml, redirectUrl, ...shared } = present;
  const { name, title, state, options, locale, translations } = shared;
  const declared = {
    ...{ name, title, state, options, locale, translations },
    // The built-in pages are what a center has that declares none.
    ...(pageHtml !== DEFAULT_PAGE && { page_html: pageHtml }),
    ...(confirmationHtml !== DEFAULT_CONFIRMATION && { confirmation_html: confirmationHtml }),
    ...(redirectUrl !== null && { redirect_url: redirectUrl }),
  };
  const wanted = CENTER_PATCHING.apply(declared, inOneSpelling(patch));
  return centerOf({ id, ...wanted } as Parameters<typeof centerOf>[0]);
}

/** A list of icons and a locale have two spellings; centers are stored in one. */
function inOneSpelling({ options, translations, ...patch }: Patch): Patch {
  const { "link-tags": icons, ...others } = options ?? {};
  return {
    ...patch,
    ...(options !== undefined && {
      options: options && (icons === undefined ? options : { "links-tags": icons, ...others }),
    }),
    ...(translations !== undefined && {
      translations: translations && translationsOf(translations),
    }),
  };
}
