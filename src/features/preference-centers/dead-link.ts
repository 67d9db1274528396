import { Problem } from "../../core/base/problem.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import { chooseLocale, directionOf } from "./locales.ts";

/** The texts of the pages about links. */
const ENGLISH = {
  dead_link: "This link is invalid or has expired",
  dead_link_help:
    "A part of it may be missing. Open the link in our latest message, or reply to that message.",
  unsubscribe: "Unsubscribe from all emails",
  no_mail_now: "You will get no more emails from us.",
};

/** These texts in the language of a browser. */
export function textsFor(acceptLanguage: string | undefined) {
  const languages = { language: undefined, country: undefined, acceptLanguage };
  const locale = chooseLocale({ locale: "en", translations: DEFAULT_TEXTS }, languages);
  const texts = { ...ENGLISH, ...DEFAULT_TEXTS[locale] };
  return { texts, locale: { locale, direction: directionOf(locale) } };
}

/**
 * The refusal of any invalid link: the same for all, so that it reveals nothing about users. The
 * page says what to do, in the language of the browser.
 */
export function deadLink(acceptLanguage: string | undefined): Problem {
  const { texts, locale } = textsFor(acceptLanguage);
  return new Problem("NOT_FOUND", `${ENGLISH.dead_link}.`, {
    page: { heading: texts.dead_link, text: texts.dead_link_help, ...locale },
  });
}
