import type { Static } from "typebox";
import { refuseUnstorableNames } from "../campaigns/declarations.ts";
import type { Resource } from "../workspaces/resource.ts";
import { DeclaredLocale } from "./locale.ts";
import { selectLocales } from "./locale-store.ts";
import { applyLocales } from "./manage-locales.ts";

/** Applied before the campaigns, whose translations name locales. */
export const locales: Resource = {
  key: "locales",
  about: "The languages into which messages are translated.",
  schema: DeclaredLocale,
  identity: "id",
  async apply(tx, _services, context, entries: readonly Static<typeof DeclaredLocale>[]) {
    refuseUnstorableNames(entries, ["locales"]);
    return applyLocales(tx, context, entries);
  },
  async declaration(database, _from, { workspace }) {
    const stored = await selectLocales(database, workspace.id);
    return stored.map(({ localeKey, declared: _declared, ...locale }) => ({
      ...locale,
      locale_key: localeKey,
    }));
  },
};
