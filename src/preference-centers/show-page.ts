import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import { Problem } from "../problem.ts";
import { readChoices } from "./choices.ts";
import type { LinkTarget } from "./link.ts";
import type { Links } from "./links.ts";
import type { PageMemory, ServedCenter } from "./page-memory.ts";
import type { Reader } from "./page-scope.ts";
import type { PageViews } from "./page-views.ts";
import { type PageSetting, presentPage, type ShownPage } from "./present-page.ts";
import { readReader } from "./read-readers.ts";
import { saveChoices } from "./save-choices.ts";

export interface PageServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly links: Links;
  readonly pageViews: PageViews;
  readonly pageMemory: PageMemory;
}

/** Somebody who follows a link. */
export interface Visit {
  readonly link: string;
  readonly baseUrl: string;
  /** The header `Accept-Language`. */
  readonly acceptLanguage: string | undefined;
}

const PAGE_PATH = "/preferences";

/** The declared path of a page. */
export const PAGE_ROUTE = `${PAGE_PATH}/:link`;

/** The address of somebody's page. */
export const pageUrl = (baseUrl: string, link: string): string => `${baseUrl}${PAGE_PATH}/${link}`;

/** Shows somebody's page. @throws Problem NOT_FOUND for any link that leads nowhere, the same for all. */
export async function showPage(services: PageServices, visit: Visit): Promise<ShownPage> {
  const { served, reader } = await open(services, visit.link);
  return presentPage(services.log, served, "pageHtml", reader, settingOf(visit));
}

/**
 * Takes what somebody chose, and shows the confirmation.
 *
 * @returns the page, or the address where the browser goes.
 * @throws Problem NOT_FOUND as `showPage`; INVALID_REQUEST where nothing was chosen.
 */
export async function submitPage(
  services: PageServices,
  visit: Visit,
  form: { readonly body: string; readonly contentType: string },
  call: Call,
): Promise<ShownPage | { readonly redirectUrl: string }> {
  const { target, served, reader } = await open(services, visit.link);
  const choices = await readChoices(form.body, form.contentType);
  if (!(await saveChoices(services, target.workspaceId, reader, choices, call))) {
    throw new Problem("INVALID_REQUEST", "No choice arrived, so nothing was changed.");
  }
  const { redirectUrl } = served.center;
  // RFC 8058, 3.2: a mail program is not sent elsewhere.
  if (redirectUrl !== null && !choices.isOneClick) {
    return { redirectUrl: new URL(redirectUrl).href };
  }
  const changed = await readReader(services.database, target.workspaceId, reader.profileId);
  const after = changed ?? reader;
  return presentPage(services.log, served, "confirmationHtml", after, settingOf(visit));
}

async function open(
  { database, links, pageViews, pageMemory }: PageServices,
  link: string,
): Promise<{ target: LinkTarget; served: ServedCenter; reader: Reader }> {
  const target = await links.read(link);
  const { head, reader } = (target && (await pageViews(target))) ?? {};
  const served = target && head && (await pageMemory.find(database, target.workspaceId, head));
  if (target && served && reader) return { target, served, reader };
  throw new Problem("NOT_FOUND", "This link does not work, or does not work any more.");
}

/** The form goes back to the same host, whatever a proxy calls it. */
const settingOf = ({ baseUrl, link, acceptLanguage }: Visit): PageSetting => ({
  acceptLanguage,
  submitUrl: pageUrl(baseUrl, link).replace(/^\w+:\/\/[^/]*/, ""),
});
