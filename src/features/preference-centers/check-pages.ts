import { isLongerThan } from "../../core/base/values/plain-json.ts";
import { countLiquid } from "../liquid/feature.ts";
import { type CenterContent, TITLE_ID } from "./center.ts";
import { liquidDepth } from "./liquid-view.ts";
import { documentOf } from "./page-document.ts";
import { findIneffective, type HtmlNote, parseHtml } from "./page-html.ts";
import { findTextFault, parsePage, renderPage } from "./page-liquid.ts";
import { scopeOf } from "./page-scope.ts";
import { sampleReader } from "./sample-reader.ts";

/*
 * Whether the pages of a center can be stored: faults that would appear when a page is opened are
 * reported with their line when the page is written. Runs on a thread (`page-work.ts`), since it
 * may take long.
 */

export const PAGES = ["pageHtml", "confirmationHtml"] as const;

export type PageName = (typeof PAGES)[number];

/** A fault of a center: its member, and a text to follow the member's name. */
export interface CenterFault {
  readonly member: string;
  readonly rule: string;
  /** The position in a page; line and column count from 1. */
  readonly line?: number;
  readonly column?: number;
  /** The budget that it exceeds. */
  readonly budget?: string;
}

/** Something in a page that is accepted and has no effect. */
export interface PageWarning extends HtmlNote {
  readonly page: PageName;
}

/** The limit for each page and each text, in characters. */
const LONGEST_PAGE = 524_288;

/** The limit for all pages and texts together, because of the time to parse them. */
const MOST_LIQUID = 10_000;

/** Blocks inside one another: the library parses each with a call inside the last one's. */
const DEEPEST_LIQUID = 100;

const MOST_TEXTS = 5_000;

/** The first fault in the pages and texts of a center; a page goes by its name in `names`. */
export function findPagesFault(
  center: CenterContent,
  names: Readonly<Record<PageName, string>>,
): CenterFault | undefined {
  return (
    findSizeFault(center, names) ??
    firstOf(PAGES, (page) => findPageFault(center[page], names[page])) ??
    firstOf(textsOf(center), ({ member, id, text }) => {
      const reason = findReasonAgainst(id, text);
      return reason === undefined ? undefined : { member, rule: `is rejected: ${reason}` };
    }) ??
    firstOf(PAGES, (page) => findRenderFault(center, page, names[page]))
  );
}

/** The parts of the pages that browsers ignore, because a page runs and loads no code. */
export const findWarnings = (center: CenterContent, imageHosts: readonly string[]): PageWarning[] =>
  PAGES.flatMap((page) =>
    findIneffective(parseHtml(center[page]), imageHosts).map((note) => ({ ...note, page })),
  );

function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const textsOf = ({ translations }: CenterContent) =>
  Object.entries(translations).flatMap(([locale, texts]) =>
    Object.entries(texts).map(([id, text]) => ({
      member: `translations.${locale}.${id}`,
      id,
      text,
    })),
  );

function findSizeFault(
  center: CenterContent,
  names: Readonly<Record<PageName, string>>,
): CenterFault | undefined {
  const texts = textsOf(center);
  if (texts.length > MOST_TEXTS) {
    return { member: "translations", rule: `has more than ${MOST_TEXTS} texts` };
  }
  const all = [...PAGES.map((page) => ({ member: names[page], text: center[page] })), ...texts];
  const long = all.find(({ text }) => isLongerThan(text, LONGEST_PAGE));
  if (long) return { member: long.member, rule: `is longer than ${LONGEST_PAGE} characters` };
  const deep = all.find(({ text }) => liquidDepth(text) > DEEPEST_LIQUID);
  if (deep) {
    const rule = `is rejected: more than ${DEEPEST_LIQUID} Liquid blocks are nested`;
    return { member: deep.member, rule, budget: "liquid_depth" };
  }
  const liquid = all.reduce((sum, { text }) => sum + countLiquid(text), 0);
  if (liquid <= MOST_LIQUID) return undefined;
  const rule = `and the others have more than ${MOST_LIQUID} Liquid tags together`;
  return { member: names.pageHtml, rule, budget: "liquid_tags" };
}

function findPageFault(page: string, member: string): CenterFault | undefined {
  if (page.trim() === "") return { member, rule: "is empty" };
  const parsed = parsePage(page);
  if ("fault" in parsed) {
    const { reason, line, column } = parsed.fault;
    const rule = `is rejected: line ${line}, column ${column}: ${reason}`;
    return { member, rule, line, column };
  }
  const { fault } = parseHtml(page);
  if (!fault) return undefined;
  const { line, message, budget } = fault;
  const rule = `is rejected: line ${line}: ${message}`;
  return { member, rule, line, ...(budget && { budget }) };
}

/** A text is part of a page: it has to close every element that it opens. */
function findReasonAgainst(id: string, text: string): string | undefined {
  if (!/^\S{1,255}$/.test(id)) return "an id is 1 to 255 characters without spaces";
  const fault = findTextFault(text);
  // The title of the page is no part of its HTML.
  if (fault !== undefined || id === TITLE_ID) return fault;
  return text.includes("<") ? parseHtml(text).fault?.message : undefined;
}

/**
 * Rendered once with a sample, in the language it is written in: a page that never ends is not
 * stored.
 */
function findRenderFault(
  center: CenterContent,
  page: PageName,
  member: string,
): CenterFault | undefined {
  const parsed = parsePage(documentOf(center[page], center));
  if ("fault" in parsed) return { member, rule: `is rejected: ${parsed.fault.reason}` };
  const frame = { submitUrl: "#", title: center.title, locale: center.locale };
  const rendered = renderPage(parsed.template, scopeOf(sampleReader([]), frame));
  if ("html" in rendered) return undefined;
  return { member, rule: `cannot be rendered: ${rendered.reason}` };
}
