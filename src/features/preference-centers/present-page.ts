import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import {
  defineGroupedWork,
  type ThreadPool,
  WorkExceeded,
} from "../../core/base/threads/thread-pool.ts";
import { PAGE_HEADERS } from "../../core/http/page-headers.ts";
import { type PreferenceCenter, TITLE_ID } from "./center.ts";
import type { PageName } from "./check-pages.ts";
import { DEFAULT_CONFIRMATION, DEFAULT_PAGE } from "./default-page.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";
import { chooseLocale, type ReaderLanguages } from "./locales.ts";
import { pagePolicy } from "./page-policy.ts";
import type { Reader, ShownChange } from "./page-scope.ts";
import type { PageSource, renderForReaders } from "./page-work.ts";

export interface ShownPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageOf {
  readonly workspaceId: number;
  /** Pages are cached if there is a revision. */
  readonly center: PreferenceCenter & { readonly revision?: string };
  readonly page: PageName;
}

export interface PageSetting {
  readonly acceptLanguage: string | undefined;
  /** Goes before the reader's own languages. */
  readonly locale?: string | undefined;
  readonly submitUrl: string;
  /** The saved choices, for the confirmation. */
  readonly changes?: readonly ShownChange[] | undefined;
  /** Which page of the groups is shown, from 1. */
  readonly groupPage?: number | undefined;
}

export type PresentServices = { readonly log: Logger; readonly threads: ThreadPool };

type Rendered = { readonly html: string } | { readonly reason: string };

/**
 * Renders a page for its reader. One that cannot be rendered for them is replaced by the ready page, so
 * that unsubscribing always works.
 */
export async function presentPage(
  { log, threads }: PresentServices,
  shown: PageOf,
  reader: Reader,
  setting: PageSetting,
): Promise<ShownPage> {
  const { center, page } = shown;
  const headers = headersOf(center, reader);
  const rendered = await renderFor(threads, shown, reader, setting);
  if ("html" in rendered) return { html: rendered.html, headers };
  log.warn({ center: center.id, page, reason: rendered.reason }, "a page cannot be rendered");
  const ready = { ...shown, center: { ...center, ...READY_PAGES } };
  const instead = await renderFor(threads, ready, reader, setting);
  if ("html" in instead) return { html: instead.html, headers };
  throw new Error(`The ready page cannot be rendered: ${instead.reason}`);
}

const READY_PAGES = {
  revision: "ready",
  pageHtml: DEFAULT_PAGE,
  confirmationHtml: DEFAULT_CONFIRMATION,
  locale: "en",
  translations: DEFAULT_TEXTS,
};

/** Longer than all budgets allow: only a filter can take so long. */
const RENDER = defineGroupedWork<typeof renderForReaders>(
  import.meta.resolve("./page-work.js"),
  "renderForReaders",
  5_000,
);

/** Pages that exceeded the deadline: they are not tried again for a while, unless they change. */
const endless = new LRUCache<string, true>({ max: 1_000, ttl: 60_000 });

/** Renders a page of a center on a thread, in the language of its reader. */
export async function renderFor(
  threads: ThreadPool,
  { workspaceId, center, page }: PageOf,
  reader: Reader,
  { submitUrl, changes, groupPage, ...setting }: PageSetting,
): Promise<Rendered> {
  const locale = chooseLocale(center, languagesOf(reader, setting));
  const source = sourceOf(workspaceId, center, page, locale);
  if (source.key !== undefined && endless.has(source.key)) return EXCEEDED;
  try {
    return await threads.run(RENDER, workspaceId, {
      source,
      reader,
      submitUrl,
      changes,
      groupPage,
    });
  } catch (error) {
    if (!(error instanceof WorkExceeded)) throw error;
    if (source.key !== undefined) endless.set(source.key, true);
    return EXCEEDED;
  }
}

/** One object for each page of a center that is cached, so that pages that go to a thread together share it. */
const sources = new WeakMap<PageOf["center"], Map<string, PageSource>>();

function sourceOf(
  workspaceId: number,
  center: PageOf["center"],
  page: PageName,
  locale: string,
): PageSource {
  const own = sources.get(center) ?? new Map<string, PageSource>();
  sources.set(center, own);
  const name = `${page} ${locale}`;
  const source = own.get(name) ?? makeSource(workspaceId, center, page, locale);
  own.set(name, source);
  return source;
}

const EXCEEDED = { reason: "it takes too much time or memory" };

function makeSource(
  workspaceId: number,
  center: PageOf["center"],
  page: PageName,
  locale: string,
): PageSource {
  const { id, revision, options, translations } = center;
  const texts = translations[locale] ?? {};
  return {
    key: revision && `${workspaceId} ${id} ${revision} ${page} ${locale}`,
    html: center[page],
    texts,
    title: texts[TITLE_ID] ?? center.title,
    options,
    locale,
  };
}

function languagesOf(
  { standardAttributes: { language, country } }: Reader,
  { locale, acceptLanguage }: Omit<PageSetting, "submitUrl" | "changes" | "groupPage">,
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
 * A page belongs to one person, so nothing may cache it. It runs no script and loads only images and
 * fonts; its form is sent to this server, and redirected from here to where the center sends readers.
 */
function headersOf(
  { redirectUrl }: PreferenceCenter,
  { imageHosts }: Reader,
): Record<string, string> {
  const onward = redirectUrl === null ? "" : ` ${new URL(redirectUrl).origin}`;
  const place = { formAction: `'self'${onward}`, frameAncestors: "'none'" };
  return {
    ...PAGE_HEADERS,
    "content-security-policy": pagePolicy(imageHosts, place),
    "cache-control": "no-store",
    "x-robots-tag": "noindex, nofollow",
  };
}
