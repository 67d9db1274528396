import type { Database } from "../database/database.ts";
import { PAGE_HEADERS } from "../http/page-headers.ts";
import { Problem } from "../problem.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { readGroups } from "../workspaces/subscription-groups.ts";
import { findUser } from "./find-user.ts";
import { readCenter, type Where } from "./manage-centers.ts";
import type { Reader } from "./page-scope.ts";
import { renderFor, type ShownPage } from "./present-page.ts";
import { readReader } from "./read-readers.ts";
import { sampleReader } from "./sample-reader.ts";

export interface PreviewOptions {
  /** Whose page; by default that of a made-up user. */
  readonly external_id?: string;
  readonly locale?: string;
  readonly page?: "page" | "confirmation";
}

/**
 * Shows a page to those who write it, drafts too. Its form leads nowhere.
 *
 * @throws Problem NOT_FOUND for the center or the user, INVALID_REQUEST where the page cannot be rendered
 *   for this user: a reader of a link then gets the ready page instead.
 */
export async function previewPage(
  { database, threads }: { readonly database: Database; readonly threads: ThreadPool },
  workspace: Where,
  centerId: string,
  { external_id, locale, page = "page" }: PreviewOptions,
): Promise<ShownPage> {
  const center = await readCenter({ database }, workspace, centerId);
  const reader = await (external_id === undefined
    ? readGroups(database, workspace.id).then(sampleReader)
    : readUser(database, workspace, external_id));
  const setting = { locale, acceptLanguage: undefined, submitUrl: "#" };
  const name = page === "page" ? "pageHtml" : "confirmationHtml";
  const shown = { workspaceId: workspace.id, center, page: name } as const;
  const rendered = await renderFor(threads, shown, reader, setting);
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
  const profileId = await findUser(database, workspace.id, externalId);
  const reader = await readReader(database, workspace.id, profileId);
  if (reader) return reader;
  throw new Problem("NOT_FOUND", `There is no user '${externalId}' any more.`);
}
