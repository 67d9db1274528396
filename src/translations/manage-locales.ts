import type { Database } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { saveLocales } from "./apply-declarations.ts";
import { deleteLocales, selectLocales } from "./locale-store.ts";
import type { Declared, Locale } from "./message.ts";

export interface ManageServices {
  readonly database: Database;
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
  { database }: ManageServices,
  workspaceName: string,
  locale: Locale,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await database.transaction((tx) => saveLocales(tx, id, [locale], false));
}

/** Removes a locale; translations into it wait for it to come back. @throws Problem NOT_FOUND. */
export async function removeLocale(
  { database }: ManageServices,
  workspaceName: string,
  localeId: string,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  const removed = await database.transaction((tx) => deleteLocales(tx, id, [localeId]));
  if (removed === 0) throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
}
