import { isDeepStrictEqual } from "node:util";
import { type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { saveLocales, withoutFlag } from "./apply-declarations.ts";
import { deleteLocales, selectLocales } from "./locale-store.ts";
import type { Declared, Locale } from "./message.ts";

/* Everything that the administrator changes here is audited; texts are left out of that. */

export interface ManageServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** The locales of a workspace, by key. @throws Problem NOT_FOUND. */
export async function listLocales(
  { database }: ManageServices,
  workspaceName: string,
): Promise<(Locale & Declared)[]> {
  const { id } = await findWorkspace(database, workspaceName);
  return selectLocales(database, id);
}

/**
 * Makes or changes a locale. One that a manifest declared stays declared: the next manifest that is
 * applied has the last word on it.
 *
 * @throws Problem NOT_FOUND, CONFLICT where another locale has the key.
 */
export async function putLocale(
  { database, clock }: ManageServices,
  workspaceName: string,
  origin: Origin,
  locale: Locale,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await database.transaction(async (tx) => {
    const known = (await selectLocales(tx, id)).find((each) => each.id === locale.id);
    await saveLocales(tx, id, [locale], false);
    if (known && isDeepStrictEqual(withoutFlag(known), locale)) return;
    const { id: _id, name, localeKey: locale_key, ...details } = locale;
    const change = {
      action: known ? "updated" : "created",
      kind: "locale",
      workspace: workspaceName,
      name,
      details: { locale_key, ...details },
    };
    await recordChanges(tx, clock, origin, [change]);
  });
}

/** Removes a locale; translations into it wait for it to come back. @throws Problem NOT_FOUND. */
export async function removeLocale(
  { database, clock }: ManageServices,
  workspaceName: string,
  origin: Origin,
  localeId: string,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await database.transaction(async (tx) => {
    const known = (await selectLocales(tx, id)).find((each) => each.id === localeId);
    const removed = await deleteLocales(tx, id, [localeId]);
    if (removed === 0) throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
    const name = known?.name ?? localeId;
    const change = { action: "removed", kind: "locale", workspace: workspaceName, name };
    await recordChanges(tx, clock, origin, [change]);
  });
}
