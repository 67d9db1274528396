import type { Context } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { PAGE_HEADERS } from "../../core/http/page-headers.ts";
import { sentencePage } from "../../core/http/sentence-page.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import type { PeopleServices } from "../../core/people/profiles/write-people.ts";
import type { CenterCache, ServedCenter } from "./center-cache.ts";
import { readChoices } from "./choices.ts";
import { deadLink, textsFor } from "./dead-link.ts";
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
import { isUnsubscribe, saveChoices, unsubscribeAddress } from "./save-choices.ts";
import { linkAddressOf } from "./user-url.ts";

/* The page of a link in the mailbox of a former address: nothing about the user. */

const HEADERS = { ...PAGE_HEADERS, "cache-control": "no-store" };

/** The button that unsubscribes the address that the link was made for. */
function outdatedPage(acceptLanguage: string | undefined, submitUrl: string): ShownPage {
  const { texts, locale } = textsFor(acceptLanguage);
  const page = { heading: texts.dead_link, text: texts.dead_link_help, ...locale };
  const form = { action: submitUrl, button: texts.unsubscribe };
  return { html: sentencePage(texts.dead_link, page, form), headers: HEADERS };
}

function unsubscribedPage(acceptLanguage: string | undefined): ShownPage {
  const { texts, locale } = textsFor(acceptLanguage);
  const page = { heading: texts.no_mail_now, text: "", ...locale };
  return { html: sentencePage(texts.no_mail_now, page), headers: HEADERS };
}

export interface PageServices extends PeopleServices, PresentServices {
  readonly links: Links;
  readonly pageViews: PageViews;
  readonly centerCache: CenterCache;
  readonly pageLimits: PageLimits;
}

export interface Visit extends PageRequest {
  readonly link: string;
  readonly baseUrl: string;
  readonly acceptLanguage: string | undefined;
  /** Which page of the groups is shown, from 1. */
  readonly groupPage?: number | undefined;
}

/**
 * Shows a user's page, or to the mailbox of an earlier address of the user only how to unsubscribe that.
 *
 * @throws Problem NOT_FOUND for any invalid link, the same for all; RATE_LIMITED.
 */
export async function showPage(services: PageServices, visit: Visit): Promise<ShownPage> {
  const { target, center, reader } = await open(services, visit);
  if (target.isOutdated) return outdatedPage(visit.acceptLanguage, settingOf(visit).submitUrl);
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
  if (target.isOutdated) {
    // A form that was opened before the address changed may say anything.
    if (!isUnsubscribe(choices)) throw deadLink(visit.acceptLanguage);
    await unsubscribeAddress(services, context, target.workspaceId, target.address);
    return unsubscribedPage(visit.acceptLanguage);
  }
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
): Promise<Opened> {
  pageLimits.countForAddress(visit);
  const target = await links.read(visit.link);
  if (target) pageLimits.countForWorkspace(target.workspaceId, visit);
  const { head, reader } = (target && (await pageViews(target))) ?? {};
  const center = target && head && (await centerCache.find(database, target.workspaceId, head));
  const access = target && reader && accessOf(target, reader);
  if (target && center && reader && access)
    return { target: { ...target, ...access }, center, reader };
  throw deadLink(visit.acceptLanguage);
}

interface Opened {
  readonly target: OpenedLink & Access;
  readonly center: ServedCenter;
  readonly reader: Reader;
}

type Access =
  | { readonly isOutdated: false }
  /** The user has another address now. */
  | { readonly isOutdated: true; readonly address: string };

/**
 * A link opens a page only to the address that it was made for: it must not show one person's data, or a new address,
 * in a mailbox that the user has left (docs/decisions/preference-pages.md).
 */
function accessOf(link: OpenedLink, reader: Reader): Access | undefined {
  const address = linkAddressOf(reader);
  const isOwn = reader.profileId === link.profileId;
  const fits =
    address !== null &&
    (link.isFor(address) ||
      (reader.phone !== null && link.isFor(reader.phone)) ||
      (reader.email !== null && isForSpelling(link, reader.email)));
  if (fits || (isOwn && (address === null || link.isFor(null)))) return { isOutdated: false };
  // A phone has no state of its own.
  if (!isOwn || link.address === null || !link.address.includes("@")) return undefined;
  return { isOutdated: true, address: link.address };
}

/** Whether the link was made for the address in another spelling: earlier versions have the lower case in links. */
const isForSpelling = ({ isFor, address }: OpenedLink, email: string): boolean =>
  isFor(email.toLowerCase()) || (address !== null && emailValue(address) === emailValue(email));

/** The form goes back to the same host, even if a proxy calls it something else. */
const settingOf = ({ baseUrl, link, acceptLanguage, groupPage }: Visit): PageSetting => ({
  acceptLanguage,
  groupPage,
  submitUrl: pageUrl(baseUrl, link).replace(/^\w+:\/\/[^/]*/, ""),
});
