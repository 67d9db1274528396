import type { Workspace } from "../../core/base/context/workspace.ts";
import { Problem } from "../../core/base/problem.ts";
import { defineWork, type ThreadPool, WorkExceeded } from "../../core/base/threads/thread-pool.ts";
import { findUnstorable } from "../../core/base/values/plain-json.ts";
import type { CenterContent } from "./center.ts";
import type { CenterFault, PageName } from "./check-pages.ts";
import type { CenterWarning } from "./content-form.ts";
import { DEFAULT_CONFIRMATION, DEFAULT_PAGE } from "./default-page.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import { localeTag } from "./locales.ts";
import { imageHostsOf, isPolicyHost } from "./page-policy.ts";
import type { checkPages } from "./page-work.ts";

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

const MOST_WARNINGS = 50;

const LONGEST_ADDRESS = 2_048;

/** Publicly known: letters, digits, hyphens and underscores. */
const NAME = /^[\p{L}\p{Nd}_-]{1,255}$/u;

/** Longer than all budgets together allow. */
const CHECK = defineWork<typeof checkPages>(
  import.meta.resolve("./page-work.js"),
  "checkPages",
  10_000,
);

/** A workspace, or its name before it has settings; what these leave without effect is not noted then. */
type Owner = Pick<Workspace, "id" | "settings"> | string;

export type CheckServices = { readonly threads: ThreadPool };

/**
 * Checks what a team wrote; its pages are checked on a thread, on behalf of `owner`.
 *
 * @param path its place in a manifest, which finds the line by it.
 * @returns the parts of the pages that have no effect in a browser.
 * @throws Problem INVALID_REQUEST that names the member and, in a page, the line, the column, and
 * the budget if one is exceeded.
 */
export async function checkCenter(
  { threads }: CheckServices,
  owner: Owner,
  center: CenterContent,
  names: MemberNames,
  path: readonly (string | number)[] = [],
): Promise<CenterWarning[]> {
  const unstorable = findUnstorable(center, "");
  if (unstorable) throw refusal(unstorable.message, { code: unstorable.code }, path);
  const fault = findMemberFault(center, names);
  if (fault) throw faultRefusal(fault, path);
  if (isReady(center)) return [];
  const verdict = await judgePages(threads, owner, center, names);
  if ("fault" in verdict) throw faultRefusal(verdict.fault, path);
  return verdict.warnings.slice(0, MOST_WARNINGS).map(({ page, line, message }) => ({
    code: "NO_EFFECT",
    message: `'${names[page]}', line ${line}: ${message}.`,
    field: names[page],
    line,
  }));
}

/** Whether it has the pages of the server, which a test checks once and for all. */
const isReady = ({ pageHtml, confirmationHtml, translations }: CenterContent): boolean =>
  pageHtml === DEFAULT_PAGE &&
  confirmationHtml === DEFAULT_CONFIRMATION &&
  translations === DEFAULT_TEXTS;

async function judgePages(
  threads: ThreadPool,
  owner: Owner,
  center: CenterContent,
  names: MemberNames,
): Promise<ReturnType<typeof checkPages>> {
  try {
    const isNamed = typeof owner === "string";
    const imageHosts = isNamed ? ["*"] : imageHostsOf(owner.settings);
    return await threads.run(CHECK, isNamed ? owner : owner.id, { center, names, imageHosts });
  } catch (error) {
    if (!(error instanceof WorkExceeded)) throw error;
    const rule = "and the other texts take too much time or memory to parse and render";
    return { fault: { member: names.pageHtml, rule, budget: `page_${error.budget}` } };
  }
}

function faultRefusal(fault: CenterFault, path: readonly (string | number)[]): Problem {
  const { member, rule, budget, ...place } = fault;
  const code = budget && { code: "PAGE_TOO_COMPLEX", budget };
  const message = `'${member}' ${rule}.`;
  return refusal(
    message,
    { ...code, field: member, ...place },
    path.length > 0 ? [...path, member] : path,
  );
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
  return { member: "translations", rule: `has '${odd}', which is not a tag such as es or es-MX` };
}

/** Its origin goes into the policy of the page. */
function isWebAddress(text: string): boolean {
  if (text.length > LONGEST_ADDRESS || !URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  return (
    ["https:", "http:"].includes(protocol) &&
    username === "" &&
    password === "" &&
    isPolicyHost(hostname)
  );
}
