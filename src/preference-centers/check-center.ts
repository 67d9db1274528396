import { Problem } from "../problem.ts";
import { findUnstorable } from "../profiles/plain-json.ts";
import type { CenterContent } from "./center.ts";
import { type CenterFault, findPagesFault, findWarnings, type PageName } from "./check-pages.ts";
import { localeTag } from "./locales.ts";

/** What the members are called where they come from. */
export type MemberNames = Readonly<Record<PageName | "redirectUrl", string>>;

/** In the API. spec: Preference center. */
export const API_NAMES: MemberNames = {
  pageHtml: "preference_center_page_html",
  confirmationHtml: "confirmation_page_html",
  redirectUrl: "redirect_page_html",
};

/** In a manifest and in the admin API. */
export const DECLARED_NAMES: MemberNames = {
  pageHtml: "page_html",
  confirmationHtml: "confirmation_html",
  redirectUrl: "redirect_url",
};

/** Something that was taken and has no effect. */
export interface CenterWarning {
  readonly code: "NO_EFFECT";
  readonly message: string;
  readonly field: string;
  readonly line: number;
}

const MOST_WARNINGS = 50;

const LONGEST_ADDRESS = 2_048;

/** Publicly known: letters, digits, hyphens and underscores. */
const NAME = /^[\p{L}\p{Nd}_-]{1,255}$/u;

/**
 * Checks what a team wrote.
 *
 * @param path where it stands in a manifest, which finds the line by it.
 * @returns what is in it that no browser will heed.
 * @throws Problem INVALID_REQUEST that names the member and, in a page, the line and the column.
 */
export function checkCenter(
  center: CenterContent,
  names: MemberNames,
  path: readonly (string | number)[] = [],
): CenterWarning[] {
  const unstorable = findUnstorable(center, "");
  if (unstorable) throw refusal(unstorable.message, { code: unstorable.code }, path);
  const fault = findMemberFault(center, names) ?? findPagesFault(center, names);
  if (fault) {
    const { member, rule, ...place } = fault;
    throw refusal(`'${member}' ${rule}.`, place, path.length > 0 ? [...path, member] : path);
  }
  return findWarnings(center)
    .slice(0, MOST_WARNINGS)
    .map(({ page, line, message }) => ({
      code: "NO_EFFECT",
      message: `'${names[page]}', line ${line}: ${message}.`,
      field: names[page],
      line,
    }));
}

const refusal = (message: string, details: object, path: readonly (string | number)[]): Problem =>
  new Problem("INVALID_REQUEST", message, {
    body: { ...details, ...(path.length > 0 && { path }) },
  });

function findMemberFault(center: CenterContent, names: MemberNames): CenterFault | undefined {
  const { name, redirectUrl, locale, translations } = center;
  if (!NAME.test(name)) {
    const rule = "must be 1 to 255 letters, digits, hyphens and underscores";
    return { member: "name", rule };
  }
  if (redirectUrl !== null && !isWebAddress(redirectUrl)) {
    return { member: names.redirectUrl, rule: "must be null or an address: https://…" };
  }
  if (localeTag(locale) !== locale) {
    return { member: "locale", rule: "must be a language tag such as en or es-MX" };
  }
  const odd = Object.keys(translations).find((each) => localeTag(each) !== each);
  if (odd === undefined) return undefined;
  return { member: "translations", rule: `has '${odd}', which is no tag such as es or es-MX` };
}

function isWebAddress(text: string): boolean {
  if (text.length > LONGEST_ADDRESS || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ["https:", "http:"].includes(protocol) && username === "" && password === "";
}
