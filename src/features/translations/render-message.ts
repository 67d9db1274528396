import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { defineWork, type ThreadPool, WorkExceeded } from "../../core/base/threads/thread-pool.ts";
import type { Database } from "../../core/database/database.ts";
import type { Content, TranslationMap } from "../campaigns/feature.ts";
import type { Locale } from "./locale.ts";
import { readMessage } from "./manage-translations.ts";
import { type renderParts, textOf } from "./render-work.ts";
import { missingIds } from "./write-translations.ts";

/** A message as its recipients in a locale see it. */
export interface Rendered {
  readonly locale: Locale | undefined;
  /** Its parts with every tag replaced; empty for a message that has strings but no content. */
  readonly content: Content;
  readonly strings: TranslationMap;
  readonly untranslated: readonly string[];
}

/**
 * Renders a message in a locale, or its source without one. Untranslated strings fall back to the source,
 * personalization to its defaults, because there is no recipient.
 *
 * @throws Problem NOT_FOUND for the message or the locale, INVALID_REQUEST for a content that cannot be
 *   rendered or takes too much time or memory.
 */
export async function renderMessage(
  services: { readonly database: Database; readonly threads: ThreadPool },
  context: WorkspaceContext,
  messageId: string,
  localeId: string | undefined,
): Promise<Rendered> {
  const { message, locales, translations } = await readMessage(services, context, messageId);
  const locale = locales.find((each) => each.id === localeId);
  if (localeId !== undefined && !locale) {
    throw new Problem("NOT_FOUND", `There is no locale '${localeId}'.`);
  }
  const map = translations.get(localeId ?? "") ?? {};
  const strings = Object.entries(message.source).map(([id, text]) => [id, textOf(map, id, text)]);
  return {
    locale,
    content: message.content
      ? await renderOnThread(services.threads, context.workspace.id, message.content, map)
      : {},
    strings: Object.fromEntries(strings),
    untranslated: locale ? missingIds(message.source, map) : [],
  };
}

/** Far longer than most contents take; each part may take a quarter of a second. */
const RENDER = defineWork<typeof renderParts>(
  import.meta.resolve("./render-work.js"),
  "renderParts",
  5_000,
);

async function renderOnThread(
  threads: ThreadPool,
  workspaceId: number,
  content: Content,
  map: TranslationMap,
): Promise<Content> {
  const rendered = await threads.run(RENDER, workspaceId, { content, map }).catch((error) => {
    if (!(error instanceof WorkExceeded)) throw error;
    return { fault: `'content' cannot be rendered: it takes too much ${error.budget}` };
  });
  if ("content" in rendered) return rendered.content;
  throw new Problem("INVALID_REQUEST", rendered.fault);
}
