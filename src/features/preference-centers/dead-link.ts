import { Problem } from "../../core/base/problem.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import { chooseLocale, directionOf } from "./locales.ts";

const HEADING = "This link is invalid or has expired";

const TEXT =
  "A part of it may be missing. Open the link in our latest message, or reply to that message.";

/**
 * The refusal of any invalid link: the same for all, so that it reveals nothing about users. The
 * page says what to do, in the language of the browser.
 */
export function deadLink(acceptLanguage: string | undefined): Problem {
  const languages = { language: undefined, country: undefined, acceptLanguage };
  const locale = chooseLocale({ locale: "en", translations: DEFAULT_TEXTS }, languages);
  const { dead_link: heading = HEADING, dead_link_help: text = TEXT } = DEFAULT_TEXTS[locale] ?? {};
  return new Problem("NOT_FOUND", `${HEADING}.`, {
    page: { heading, text, locale, direction: directionOf(locale) },
  });
}
