import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import { PAGE_HEADERS } from "../http/page-headers.ts";
import { Problem } from "../problem.ts";
import type { PreferenceCenter } from "./center.ts";
import type { PageName } from "./check-pages.ts";
import { type Choices, readChoices } from "./choices.ts";
import { DEFAULT_CONFIRMATION, DEFAULT_PAGE } from "./default-page.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import type { LinkTarget } from "./link.ts";
import type { Links } from "./links.ts";
import { chooseLocale } from "./locales.ts";
import { renderPage } from "./page-liquid.ts";
import { type PageMemory, type ServedCenter, serve } from "./page-memory.ts";
import { type Reader, scopeOf } from "./page-scope.ts";
import type { PageViews } from "./page-views.ts";
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

/** What a browser is told with a page. */
export interface ShownPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const PAGE_PATH = "/preferences";

/** The declared path of a page. */
export const PAGE_ROUTE = `${PAGE_PATH}/:link`;

/** The address of somebody's page. */
export const pageUrl = (baseUrl: string, link: string): string => `${baseUrl}${PAGE_PATH}/${link}`;

/** Shows somebody's page. @throws Problem NOT_FOUND for any link that leads nowhere, the same for all. */
export async function showPage(
  services: PageServices,
  link: string,
  view: { readonly acceptLanguage: string | undefined; readonly baseUrl: string },
): Promise<ShownPage> {
  const { served, reader } = await open(services, link);
  return show(services, served, "pageHtml", reader, { ...view, link });
}

/**
 * Takes what somebody chose, and shows the confirmation.
 *
 * @returns the page, or the address where the browser goes.
 * @throws Problem NOT_FOUND as `showPage`; INVALID_REQUEST where nothing was chosen.
 */
export async function submitPage(
  services: PageServices,
  link: string,
  form: { readonly body: string; readonly contentType: string },
  view: { readonly acceptLanguage: string | undefined; readonly baseUrl: string },
  call: Call,
): Promise<ShownPage | { readonly redirectUrl: string }> {
  const { target, served, reader } = await open(services, link);
  const choices: Choices = await readChoices(form.body, form.contentType);
  if (!(await saveChoices(services, target.workspaceId, reader, choices, call))) {
    throw new Problem("INVALID_REQUEST", "No choice arrived, so nothing was changed.");
  }
  const { redirectUrl } = served.center;
  // RFC 8058, 3.2: a mail program is not sent elsewhere.
  if (redirectUrl !== null && !choices.isOneClick) {
    return { redirectUrl: new URL(redirectUrl).href };
  }
  const changed = await readReader(services.database, target.workspaceId, reader.profileId);
  return show(services, served, "confirmationHtml", changed ?? reader, { ...view, link });
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

function show(
  { log }: PageServices,
  served: ServedCenter,
  page: PageName,
  reader: Reader,
  view: {
    readonly acceptLanguage: string | undefined;
    readonly baseUrl: string;
    readonly link: string;
  },
): ShownPage {
  // Without the host, which a proxy may have changed.
  const submitUrl = pageUrl(view.baseUrl, view.link).replace(/^\w+:\/\/[^/]*/, "");
  const headers = headersOf(served.center);
  const rendered = render(served, page, reader, { ...view, submitUrl });
  if ("html" in rendered) return { html: rendered.html, headers };
  // Whoever wants to unsubscribe can, whatever became of the page.
  const { center } = served;
  log.warn({ center: center.id, page, reason: rendered.reason }, "a page cannot be rendered");
  const ready = serve({ ...center, ...READY_PAGES });
  const instead = render(ready, page, reader, { ...view, submitUrl });
  if ("html" in instead) return { html: instead.html, headers };
  throw new Error(`The default page cannot be rendered: ${instead.reason}`);
}

const READY_PAGES = {
  pageHtml: DEFAULT_PAGE,
  confirmationHtml: DEFAULT_CONFIRMATION,
  locale: "en",
  translations: DEFAULT_TEXTS,
};

/** Renders a page of a center in the language of its reader. */
export function render(
  served: ServedCenter,
  page: PageName,
  reader: Reader,
  view: { readonly acceptLanguage: string | undefined; readonly submitUrl: string },
): { readonly html: string } | { readonly reason: string } {
  const { language, country } = reader.standardAttributes;
  const locale = chooseLocale(served.center, {
    language: typeof language === "string" ? language : undefined,
    country: typeof country === "string" ? country : undefined,
    acceptLanguage: view.acceptLanguage,
  });
  const frame = { submitUrl: view.submitUrl, title: served.title(locale), locale };
  return renderPage(served.template(page, locale), scopeOf(reader, frame));
}

/**
 * A page is one person's: nobody keeps it. It runs nothing, and loads pictures and fonts alone; its form
 * goes to us, and on from here to where the center sends its readers.
 */
function headersOf({ redirectUrl }: PreferenceCenter): Record<string, string> {
  const onward = redirectUrl === null ? "" : ` ${new URL(redirectUrl).origin}`;
  return {
    ...PAGE_HEADERS,
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; font-src https: data:; " +
      `form-action 'self'${onward}; base-uri 'none'; frame-ancestors 'none'`,
    "cache-control": "no-store",
    "x-robots-tag": "noindex, nofollow",
  };
}
