import type { Logger } from "pino";
import { PAGE_HEADERS } from "../http/page-headers.ts";
import type { PreferenceCenter } from "./center.ts";
import type { PageName } from "./check-pages.ts";
import { DEFAULT_CONFIRMATION, DEFAULT_PAGE } from "./default-page.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import { chooseLocale, type ReaderLanguages } from "./locales.ts";
import { renderPage } from "./page-liquid.ts";
import { type ServedCenter, serve } from "./page-memory.ts";
import { type Reader, scopeOf } from "./page-scope.ts";

/** What a browser is told with a page. */
export interface ShownPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How somebody comes to a page. */
export interface PageSetting {
  /** The header `Accept-Language`. */
  readonly acceptLanguage: string | undefined;
  /** A language that goes before the reader's own. */
  readonly locale?: string | undefined;
  /** Where the form is sent to. */
  readonly submitUrl: string;
}

/**
 * A page of a center for its reader. One that cannot be rendered for them gives way to the ready one:
 * whoever wants to unsubscribe can, whatever became of the page.
 */
export function presentPage(
  log: Logger,
  served: ServedCenter,
  page: PageName,
  reader: Reader,
  setting: PageSetting,
): ShownPage {
  const { center } = served;
  const headers = headersOf(center);
  const rendered = renderFor(served, page, reader, setting);
  if ("html" in rendered) return { html: rendered.html, headers };
  log.warn({ center: center.id, page, reason: rendered.reason }, "a page cannot be rendered");
  const instead = renderFor(serve({ ...center, ...READY_PAGES }), page, reader, setting);
  if ("html" in instead) return { html: instead.html, headers };
  throw new Error(`The ready page cannot be rendered: ${instead.reason}`);
}

const READY_PAGES = {
  pageHtml: DEFAULT_PAGE,
  confirmationHtml: DEFAULT_CONFIRMATION,
  locale: "en",
  translations: DEFAULT_TEXTS,
};

/** Renders a page of a center in the language of its reader. */
export function renderFor(
  served: ServedCenter,
  page: PageName,
  reader: Reader,
  { submitUrl, ...setting }: PageSetting,
): { readonly html: string } | { readonly reason: string } {
  const locale = chooseLocale(served.center, languagesOf(reader, setting));
  const frame = { submitUrl, title: served.title(locale), locale };
  return renderPage(served.template(page, locale), scopeOf(reader, frame));
}

function languagesOf(
  { standardAttributes: { language, country } }: Reader,
  { locale, acceptLanguage }: Omit<PageSetting, "submitUrl">,
): ReaderLanguages {
  if (locale !== undefined) {
    return { language: undefined, country: undefined, acceptLanguage: locale.replace("_", "-") };
  }
  return {
    language: typeof language === "string" ? language : undefined,
    country: typeof country === "string" ? country : undefined,
    acceptLanguage,
  };
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
