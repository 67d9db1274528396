import { LRUCache } from "lru-cache";
import { ofGroup } from "../../core/base/threads/call-groups.ts";
import { sum } from "../../core/base/values/sum.ts";
import { countLiquid } from "../liquid/feature.ts";
import type { CenterContent } from "./center.ts";
import {
  type CenterFault,
  findPagesFault,
  findWarnings,
  type PageName,
  type PageWarning,
} from "./check-pages.ts";
import { documentOf } from "./page-document.ts";
import { type PageTemplate, parsePage, renderPage, type Texts } from "./page-liquid.ts";
import { type Reader, type ShownChange, scopeOf } from "./page-scope.ts";

/*
 * The work of threads for pages (`src/core/base/threads/`): checking the pages of a center, and rendering one for
 * its reader. Parsing takes twenty times as long as rendering, so a thread caches the pages that it
 * parsed.
 */

export interface PagesToCheck {
  readonly center: CenterContent;
  readonly names: Readonly<Record<PageName, string>>;
  readonly imageHosts: readonly string[];
}

/** @returns the first fault in the pages and texts, or the parts of them without effect. */
export function checkPages({
  center,
  names,
  imageHosts,
}: PagesToCheck): { readonly fault: CenterFault } | { readonly warnings: PageWarning[] } {
  const fault = findPagesFault(center, names);
  return fault ? { fault } : { warnings: findWarnings(center, imageHosts) };
}

/** A page as its center has it, in one language. */
export interface PageSource {
  /** Different for every revision, page and language; undefined: not to be cached. */
  readonly key: string | undefined;
  readonly html: string;
  readonly texts: Texts;
  readonly title: string;
  readonly options: CenterContent["options"];
  readonly locale: string;
}

export interface PageToRender {
  readonly source: PageSource;
  readonly reader: Reader;
  readonly submitUrl: string;
  readonly changes?: readonly ShownChange[] | undefined;
  readonly groupPage?: number | undefined;
}

/** The whole document of each page, or why there is none: it exceeds a budget. */
export const renderForReaders = ofGroup(renderForReader);

function renderForReader({
  source,
  reader,
  submitUrl,
  changes,
  groupPage,
}: PageToRender): { readonly html: string } | { readonly reason: string } {
  const { title, locale } = source;
  const template = templateOf(source);
  if ("reason" in template) return template;
  return renderPage(template, scopeOf(reader, { submitUrl, title, locale, changes, groupPage }));
}

/**
 * The limit for all pages that a thread caches, in characters; a tag counts as the memory it takes.
 */
const MOST_CACHED = 16 * 1_048_576;

const CHARACTERS_A_TAG = 1_024;

const templates = new LRUCache<string, PageTemplate>({ maxSize: MOST_CACHED });

/** @returns the reason of a fault that an earlier version did not find when the page was stored. */
function templateOf(source: PageSource): PageTemplate | { readonly reason: string } {
  const { key } = source;
  const cached = key === undefined ? undefined : templates.get(key);
  if (cached) return cached;
  const document = documentOf(source.html, source);
  const parsed = parsePage(document, source.texts);
  if ("fault" in parsed) return { reason: parsed.fault.reason };
  const texts = [document, ...Object.values(source.texts)];
  const size = sum(texts.map((text) => 1 + text.length + CHARACTERS_A_TAG * countLiquid(text)));
  if (key !== undefined) templates.set(key, parsed.template, { size });
  return parsed.template;
}
