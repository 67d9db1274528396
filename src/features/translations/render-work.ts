import type { Content, TranslationMap } from "../campaigns/feature.ts";
import { renderContent } from "../liquid/feature.ts";

/* Renders the parts of a message with the strings of a locale, on threads (`src/core/base/threads/`). */

/** The limit for all parts together, in characters. */
const LONGEST_CONTENT = 4_194_304;

/** @returns the parts, or a sentence that names the one that cannot be rendered. */
export function renderParts({
  content,
  map,
}: {
  readonly content: Content;
  readonly map: TranslationMap;
}): { readonly content: Content } | { readonly fault: string } {
  const parts: [name: string, text: string][] = [];
  let length = 0;
  for (const [name, text] of Object.entries(content)) {
    const rendered = renderContent(text, (tag) => textOf(map, tag.id, tag.text));
    if ("fault" in rendered) {
      return { fault: `'content.${name}' cannot be rendered: ${rendered.fault.message}` };
    }
    length += rendered.value.length;
    if (length > LONGEST_CONTENT) {
      return {
        fault: `'content' cannot be rendered: it is longer than ${LONGEST_CONTENT} characters`,
      };
    }
    parts.push([name, rendered.value]);
  }
  return { content: Object.fromEntries(parts) };
}

/** The string of a locale, or the source if it is not translated. */
export const textOf = (map: TranslationMap, id: string, source: string): string =>
  Object.hasOwn(map, id) ? (map[id] ?? source) : source;
