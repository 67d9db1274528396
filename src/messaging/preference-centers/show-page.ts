import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { Database } from "../../database/database.ts";
import type { CenterCache, ServedCenter } from "./center-cache.ts";
import { readChoices } from "./choices.ts";
import { deadLink } from "./dead-link.ts";
import type { OpenedLink } from "./link.ts";
import type { Links } from "./links.ts";
import { pageUrl } from "./page-address.ts";
import type { PageLimits, PageRequest } from "./page-limits.ts";
import { changesBetween, type Reader } from "./page-scope.ts";
import type { PageViews } from "./page-views.ts";
import {
  type PageSetting,
  type PresentServices,
  presentPage,
  type ShownPage,
} from "./present-page.ts";
import { readReader } from "./read-readers.ts";
import { saveChoices } from "./save-choices.ts";
import { linkAddressOf } from "./user-url.ts";

export interface PageServices extends PresentServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly links: Links;
  readonly pageViews: PageViews;
  readonly centerCache: CenterCache;
  readonly pageLimits: PageLimits;
}

/** A user who follows a link. */
export interface Visit extends PageRequest {
  readonly link: string;
  readonly baseUrl: string;
  /** The header `Accept-Language`. */
  readonly acceptLanguage: string | undefined;
}

/** Shows a user's page. @throws Problem NOT_FOUND for any link that leads nowhere, the same for all; RATE_LIMITED. */
export async function showPage(services: PageServices, visit: Visit): Promise<ShownPage> {
  const { target, center, reader } = await open(services, visit);
  const shown = { workspaceId: target.workspaceId, center, page: "pageHtml" } as const;
  return presentPage(services, shown, reader, settingOf(visit));
}

/**
 * Saves a user's choices and shows the confirmation.
 *
 * @returns the page, or the address where the browser goes.
 * @throws Problem NOT_FOUND as `showPage`; RATE_LIMITED; INVALID_REQUEST if nothing was chosen.
 */
export async function submitPage(
  services: PageServices,
  context: Context,
  visit: Visit,
  form: { readonly body: string; readonly contentType: string },
): Promise<ShownPage | { readonly redirectUrl: string }> {
  const { target, center, reader } = await open(services, visit);
  const choices = await readChoices(form.body, form.contentType);
  if (!(await saveChoices(services, context, target.workspaceId, reader, choices))) {
    throw new Problem("INVALID_REQUEST", "No choice arrived, so nothing was changed.");
  }
  const { redirectUrl } = center;
  // RFC 8058, 3.2: a mail program is not sent elsewhere.
  if (redirectUrl !== null && !choices.isOneClick) {
    return { redirectUrl: new URL(redirectUrl).href };
  }
  const changed = await readReader(services.database, target.workspaceId, reader.profileId);
  const after = changed ?? reader;
  const shown = { workspaceId: target.workspaceId, center, page: "confirmationHtml" } as const;
  const changes = changesBetween(reader, after);
  return presentPage(services, shown, after, { ...settingOf(visit), changes });
}

async function open(
  { database, links, pageViews, centerCache, pageLimits }: PageServices,
  visit: Visit,
): Promise<{ target: OpenedLink; center: ServedCenter; reader: Reader }> {
  pageLimits.countForAddress(visit);
  const target = await links.read(visit.link);
  if (target) pageLimits.countForWorkspace(target.workspaceId, visit);
  const { head, reader } = (target && (await pageViews(target))) ?? {};
  const center = target && head && (await centerCache.find(database, target.workspaceId, head));
  if (target && center && reader && isOpenTo(target, reader)) return { target, center, reader };
  throw deadLink(visit.acceptLanguage);
}

/**
 * The link of a merged profile opens the kept user's page only to the address that it was made for: it
 * must not show one person's data in another one's mailbox (docs/decisions/preference-pages.md).
 */
function isOpenTo({ profileId, isFor }: OpenedLink, reader: Reader): boolean {
  if (reader.profileId === profileId) return true;
  const address = linkAddressOf(reader);
  return address !== null && isFor(address);
}

/** The form goes back to the same host, even if a proxy calls it something else. */
const settingOf = ({ baseUrl, link, acceptLanguage }: Visit): PageSetting => ({
  acceptLanguage,
  submitUrl: pageUrl(baseUrl, link).replace(/^\w+:\/\/[^/]*/, ""),
});
