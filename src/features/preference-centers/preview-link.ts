import { loadWorkspace } from "../../core/admin/workspaces/find-workspace.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Database } from "../../core/database/database.ts";
import { deadLink } from "./dead-link.ts";
import type { Links } from "./links.ts";
import { requireCenter } from "./manage-centers.ts";
import { previewUrl } from "./page-address.ts";
import type { PageLimits } from "./page-limits.ts";
import type { ShownPage } from "./present-page.ts";
import { type PreviewServices, previewPage } from "./preview.ts";
import type { Visit } from "./show-page.ts";

/* Previews for people without a token: a colleague, a phone. They show a made-up user, never a real one. */

export interface PreviewLinkServices extends PreviewServices {
  readonly links: Links;
  readonly pageLimits: PageLimits;
}

export interface PreviewLinkOptions {
  readonly page?: "page" | "confirmation";
  readonly locale?: string;
}

/** Makes a link that opens for ten minutes. @throws Problem NOT_FOUND for the center. */
export async function makePreviewLink(
  { database, links }: { readonly database: Database; readonly links: Links },
  { workspace }: WorkspaceContext,
  centerId: string,
  { page = "page", locale }: PreviewLinkOptions,
  baseUrl: string,
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  await requireCenter(database, workspace, centerId);
  const target = { workspaceId: workspace.id, centerId, page, locale };
  const { link, expiresAt } = await links.makePreview(target);
  return { url: previewUrl(baseUrl, link), expiresAt };
}

/** @throws Problem NOT_FOUND for any invalid link, the same for all; RATE_LIMITED. */
export async function openPreview(
  services: PreviewLinkServices,
  visit: Pick<Visit, "link" | "address" | "acceptLanguage">,
): Promise<ShownPage> {
  services.pageLimits.countForAddress({ address: visit.address, isOneClick: false });
  const target = await services.links.readPreview(visit.link);
  const workspace = target && (await loadWorkspace(services.database, target.workspaceId));
  if (!target || !workspace) throw deadLink(visit.acceptLanguage);
  const { page, locale } = target;
  return previewPage(services, workspace, target.centerId, { page, locale });
}
