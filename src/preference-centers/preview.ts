import type { Database } from "../database/database.ts";
import { PAGE_HEADERS } from "../http/page-headers.ts";
import { Problem } from "../problem.ts";
import { findHolders } from "../profiles/find-holders.ts";
import { checkExternalId, identifierKey } from "../profiles/identifiers.ts";
import { readGroups } from "../workspaces/subscription-groups.ts";
import { localeOf } from "./content-form.ts";
import { readCenter, type Where } from "./manage-centers.ts";
import { serve } from "./page-memory.ts";
import type { Reader } from "./page-scope.ts";
import { readReader } from "./read-readers.ts";
import { sampleReader } from "./sample-reader.ts";
import { render, type ShownPage } from "./show-page.ts";

export interface PreviewOptions {
  /** Whose page; without it, that of somebody made up. */
  readonly external_id?: string;
  readonly locale?: string;
  readonly page?: "page" | "confirmation";
}

/**
 * Shows a page to those who write it, drafts too. Its form leads nowhere.
 *
 * @throws Problem NOT_FOUND for the center or the user, INVALID_REQUEST where the page cannot be rendered
 *   for this user: whoever follows a link then gets the ready page instead.
 */
export async function previewPage(
  { database }: { readonly database: Database },
  workspace: Where,
  centerId: string,
  { external_id, locale, page = "page" }: PreviewOptions,
): Promise<ShownPage> {
  const center = await readCenter({ database }, workspace, centerId);
  const reader = await (external_id === undefined
    ? readGroups(database, workspace.id).then(sampleReader)
    : readUser(database, workspace, external_id));
  // The language that is asked for goes before the reader's own.
  const { language: _, ...standardAttributes } = reader.standardAttributes;
  const rendered = render(
    serve(center),
    page === "page" ? "pageHtml" : "confirmationHtml",
    locale === undefined ? reader : { ...reader, standardAttributes },
    { acceptLanguage: locale === undefined ? undefined : localeOf(locale), submitUrl: "#" },
  );
  if ("html" in rendered) return { html: rendered.html, headers: HEADERS };
  throw new Problem("INVALID_REQUEST", `The page cannot be rendered: ${rendered.reason}.`);
}

const HEADERS = {
  ...PAGE_HEADERS,
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; font-src https: data:; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
  "x-frame-options": "SAMEORIGIN",
  "cache-control": "no-store",
};

async function readUser(database: Database, workspace: Where, externalId: string): Promise<Reader> {
  const checked = checkExternalId(externalId);
  if ("fault" in checked) throw new Problem("INVALID_REQUEST", checked.fault.message);
  const holders = await findHolders(database, workspace.id, [checked.value]);
  const [profileId] = holders.get(identifierKey(checked.value)) ?? [];
  const reader = profileId && (await readReader(database, workspace.id, profileId));
  if (reader) return reader;
  throw new Problem("NOT_FOUND", `There is no user '${externalId}'.`);
}
