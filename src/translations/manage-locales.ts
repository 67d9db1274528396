import { isDeepStrictEqual } from "node:util";
import type { Static } from "typebox";
import { recordChanges } from "../audit/audit.ts";
import type { Declared } from "../campaigns/campaign.ts";
import type { ManageServices } from "../campaigns/manage-campaigns.ts";
import { refuseTwice } from "../campaigns/place.ts";
import type { WorkspaceContext } from "../context/context.ts";
import { isDuplicate, type Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { type Change, describe, difference } from "../workspaces/resource.ts";
import { type DeclaredLocale, type Locale, localeKeyForm, localeOf } from "./locale.ts";
import { deleteLocales, selectLocales, upsertLocales } from "./locale-store.ts";

/**
 * Makes the declared locales match a manifest. Translations into a locale that is removed are kept, and
 * show again when it returns.
 */
export async function applyLocales(
  tx: Transaction,
  { workspace }: WorkspaceContext,
  entries: readonly Static<typeof DeclaredLocale>[],
): Promise<Change[]> {
  const wanted = entries.map(localeOf);
  const keys = wanted.map((each) => localeKeyForm(each.localeKey));
  refuseTwice(["locales"], "locale_key", keys);
  const ids = wanted.map((each) => each.id);
  refuseTwice(["locales"], "id", ids);
  const present = await selectLocales(tx, workspace.id);
  const declared = present.filter((each) => each.declared).map(withoutFlag);
  const todo = difference(declared, wanted, (locale) => locale.id);
  await deleteLocales(
    tx,
    workspace.id,
    todo.removed.map((locale) => locale.id),
  );
  await saveLocales(tx, workspace.id, [...todo.created, ...todo.updated], true);
  return describe("locale", workspace.name, todo, (locale) => locale.name);
}

const withoutFlag = ({ declared: _, ...rest }: Locale & { declared: boolean }): Locale => rest;

/** Creates or changes locales. @throws Problem CONFLICT if another locale has the key. */
async function saveLocales(
  tx: Transaction,
  workspaceId: number,
  locales: readonly Locale[],
  declared: boolean,
): Promise<void> {
  await upsertLocales(tx, workspaceId, locales, declared).catch((error) => {
    if (!isDuplicate(error)) throw error;
    const keys = locales.map((locale) => `'${locale.localeKey}'`).join(", ");
    throw new Problem(
      "CONFLICT",
      `Another locale already has one of these values of locale_key: ${keys}.`,
    );
  });
}

/** The locales of a workspace, by key. @throws Problem NOT_FOUND. */
export async function listLocales(
  { database }: ManageServices,
  context: WorkspaceContext,
): Promise<(Locale & Declared)[]> {
  const { id } = context.workspace;
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
  context: WorkspaceContext,
  locale: Locale,
): Promise<void> {
  const { id } = context.workspace;
  await database.transaction(async (tx) => {
    const known = (await selectLocales(tx, id)).find((each) => each.id === locale.id);
    await saveLocales(tx, id, [locale], false);
    if (known && isDeepStrictEqual(withoutFlag(known), locale)) return;
    const { id: _id, name, localeKey: locale_key, ...details } = locale;
    const change = {
      action: known ? "updated" : "created",
      kind: "locale",
      workspace: context.workspace.name,
      name,
      details: { locale_key, ...details },
    };
    await recordChanges(tx, clock, context, [change]);
  });
}

/** Removes a locale; its translations are kept in case it is declared again. @throws Problem NOT_FOUND. */
export async function removeLocale(
  { database, clock }: ManageServices,
  context: WorkspaceContext,
  localeId: string,
): Promise<void> {
  const { id } = context.workspace;
  await database.transaction(async (tx) => {
    const known = (await selectLocales(tx, id)).find((each) => each.id === localeId);
    const removed = await deleteLocales(tx, id, [localeId]);
    if (removed === 0) throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
    const name = known?.name ?? localeId;
    const change = { action: "removed", kind: "locale", workspace: context.workspace.name, name };
    await recordChanges(tx, clock, context, [change]);
  });
}
