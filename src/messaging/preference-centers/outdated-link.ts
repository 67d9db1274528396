import { PAGE_HEADERS } from "../../http/page-headers.ts";
import { sentencePage } from "../../http/sentence-page.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import { chooseLocale, directionOf } from "./locales.ts";
import type { ShownPage } from "./present-page.ts";

/* What a link shows in the mailbox of an address that its user does not have any more: nothing of the user. */

const ENGLISH: Readonly<Record<string, string>> = {
  dead_link: "This link is invalid or has expired",
  dead_link_help:
    "A part of it may be missing. Open the link in our latest message, or reply to that message.",
  unsubscribe: "Unsubscribe from all emails",
  no_mail_now: "You will get no more emails from us.",
};

const HEADERS = { ...PAGE_HEADERS, "cache-control": "no-store" };

/** The button that unsubscribes the address that the link was made for. */
export function outdatedPage(acceptLanguage: string | undefined, submitUrl: string): ShownPage {
  const { text, locale } = textsFor(acceptLanguage);
  const page = { heading: text("dead_link"), text: text("dead_link_help"), ...locale };
  const form = { action: submitUrl, button: text("unsubscribe") };
  return { html: sentencePage(text("dead_link"), page, form), headers: HEADERS };
}

export function unsubscribedPage(acceptLanguage: string | undefined): ShownPage {
  const { text, locale } = textsFor(acceptLanguage);
  const page = { heading: text("no_mail_now"), text: "", ...locale };
  return { html: sentencePage(text("no_mail_now"), page), headers: HEADERS };
}

function textsFor(acceptLanguage: string | undefined) {
  const languages = { language: undefined, country: undefined, acceptLanguage };
  const locale = chooseLocale({ locale: "en", translations: DEFAULT_TEXTS }, languages);
  const texts: Readonly<Record<string, string>> = DEFAULT_TEXTS[locale] ?? {};
  return {
    text: (name: string): string => texts[name] ?? ENGLISH[name] ?? "",
    locale: { locale, direction: directionOf(locale) },
  };
}
