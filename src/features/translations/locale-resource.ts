import type { Static } from "typebox";
import { listedResource } from "../../core/admin/workspaces/listed-resource.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { isDuplicate } from "../../core/database/database.ts";
import { DeclaredLocale, localeKeyForm, localeOf } from "./locale.ts";
import { deleteLocales, selectLocales, upsertLocales } from "./locale-store.ts";

/**
 * The locales of a workspace. Translations into a locale that is removed are kept, and show again when it
 * returns. Applied before the campaigns, whose translations name locales.
 */
export const locales = listedResource<Static<typeof DeclaredLocale>, WorkspaceContext>({
  key: "locales",
  about: "The languages into which messages are translated.",
  schema: DeclaredLocale,
  identity: "id",
  unique: "locale_key",
  formOfUnique: localeKeyForm,
  kind: "locale",
  permissions: { read: "basic_access", write: "send_campaigns_canvases" },
  nameOf: ({ name }) => name,
  complete: (entry) => {
    const locale = entry as Static<typeof DeclaredLocale>;
    return { ...locale, id: locale.id.toLowerCase() };
  },
  async select(database, { workspace }) {
    const stored = await selectLocales(database, workspace.id);
    return stored.map(({ localeKey, ...rest }) => ({ ...rest, locale_key: localeKey }));
  },
  async save(tx, { workspace }, entries) {
    const stored = entries.map(({ declared, ...locale }) => ({ ...localeOf(locale), declared }));
    await upsertLocales(tx, workspace.id, stored).catch((error) => {
      if (!isDuplicate(error)) throw error;
      // Two locales that exchange their keys: the engine compares row by row.
      const keys = entries.map((entry) => `'${entry.locale_key}'`).join(", ");
      const rule = "Another locale already has one of these values of locale_key";
      throw new Problem("CONFLICT", `${rule}: ${keys}.`);
    });
  },
  remove: (tx, { workspace }, entries) =>
    deleteLocales(
      tx,
      workspace.id,
      entries.map(({ id }) => id),
    ),
});
