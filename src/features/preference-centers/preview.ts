import { readGroups } from "../../core/admin/workspaces/subscription-groups.ts";
import { Problem } from "../../core/base/problem.ts";
import type { ThreadPool } from "../../core/base/threads/thread-pool.ts";
import { type Database, settleAll } from "../../core/database/database.ts";
import { PAGE_HEADERS } from "../../core/http/page-headers.ts";
import type { DeclaredCenter, PreferenceCenter } from "./center.ts";
import { findUser } from "./find-user.ts";
import { readCenter, type Where } from "./manage-centers.ts";
import { pagePolicy } from "./page-policy.ts";
import type { Reader } from "./page-scope.ts";
import { renderFor, type ShownPage } from "./present-page.ts";
import { readLook, readReader } from "./read-readers.ts";
import { sampleReader } from "./sample-reader.ts";

export interface PreviewOptions {
  /** The user whose page it is; by default a made-up user. */
  readonly external_id?: string;
  readonly locale?: string | undefined;
  readonly page?: "page" | "confirmation";
}

export type PreviewServices = { readonly database: Database; readonly threads: ThreadPool };

/**
 * Shows a page to its authors, including drafts. Its form goes nowhere.
 *
 * @throws Problem NOT_FOUND for the center or the user, INVALID_REQUEST if the page cannot be rendered
 *   for this user: a reader of a link then gets the ready page instead.
 */
export async function previewPage(
  services: PreviewServices,
  workspace: Where,
  centerId: string,
  options: PreviewOptions,
): Promise<ShownPage> {
  const center = await readCenter(services, workspace, centerId);
  const reader = await readerFor(services, workspace, options);
  const html = await render(services, workspace, center, reader, options);
  return { html, headers: headersFor(reader) };
}

/**
 * Shows a page as it would be if `content` were saved now. The content has to be checked.
 *
 * @returns the document.
 * @throws Problem as `previewPage` does.
 */
export async function previewContent(
  services: PreviewServices,
  workspace: Where,
  content: DeclaredCenter,
  options: PreviewOptions,
): Promise<string> {
  const { declared, createdAt, updatedAt } = await readCenter(services, workspace, content.id);
  // Without a revision, so that nothing of it is cached.
  const center = { ...content, declared, createdAt, updatedAt };
  const reader = await readerFor(services, workspace, options);
  return render(services, workspace, center, reader, options);
}

const readerFor = (
  { database }: PreviewServices,
  workspace: Where,
  { external_id }: PreviewOptions,
): Promise<Reader> =>
  external_id === undefined
    ? readSample(database, workspace.id)
    : readUser(database, workspace, external_id);

async function render(
  { threads }: PreviewServices,
  workspace: Where,
  center: PreferenceCenter,
  reader: Reader,
  { locale, page = "page" }: PreviewOptions,
): Promise<string> {
  const setting = { locale, acceptLanguage: undefined, submitUrl: "#" };
  const name = page === "page" ? "pageHtml" : "confirmationHtml";
  const shown = { workspaceId: workspace.id, center, page: name } as const;
  const rendered = await renderFor(threads, shown, reader, setting);
  if ("html" in rendered) return rendered.html;
  throw new Problem("INVALID_REQUEST", `The page cannot be rendered: ${rendered.reason}.`);
}

export async function readSample(database: Database, workspaceId: number): Promise<Reader> {
  const [groups, look] = await settleAll([
    readGroups(database, workspaceId),
    readLook(database, workspaceId),
  ]);
  return sampleReader(groups, look);
}

const PLACE = { formAction: "'none'", frameAncestors: "'self'" };

const headersFor = ({ imageHosts }: Reader) => ({
  ...PAGE_HEADERS,
  "content-security-policy": pagePolicy(imageHosts, PLACE),
  "x-frame-options": "SAMEORIGIN",
  "cache-control": "no-store",
});

async function readUser(database: Database, workspace: Where, externalId: string): Promise<Reader> {
  const profileId = await findUser(database, workspace.id, externalId);
  const reader = await readReader(database, workspace.id, profileId);
  if (reader) return reader;
  throw new Problem("NOT_FOUND", `There is no user '${externalId}' any more.`);
}
