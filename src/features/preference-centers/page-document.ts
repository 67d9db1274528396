import type { CenterContent, LinkTag } from "./center.ts";
import { attributeOf, type Element, type ParsedHtml, parseHtml } from "./page-html.ts";

/*
 * Completes a page that a team wrote to a whole document: title, viewport and icons if it has none,
 * and the values that unticked boxes send. Nothing of it begins a line, so that a line of the
 * document is one of the page.
 */

/** A text that goes into the page at an offset. */
interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** @returns the page with everything in it that it needs; its Liquid is still to be rendered. */
export function documentOf(
  page: string,
  { title, options, locale }: Pick<CenterContent, "title" | "options" | "locale">,
): string {
  const parsed = parseHtml(page);
  const { elements, inputs } = parsed;
  const head = headOf(elements, title, options);
  return insert(page, [...frameOf(page, parsed, head, locale), ...untickedFields(page, inputs)]);
}

function insert(page: string, insertions: readonly Insertion[]): string {
  const parts: string[] = [];
  let from = 0;
  // Sorting is stable: of two at one place the first stays before the second.
  for (const { at, text } of insertions.toSorted((a, b) => a.at - b.at)) {
    parts.push(page.slice(from, at), text);
    from = at;
  }
  return [...parts, page.slice(from)].join("");
}

/** The document around a page that is not one, and its head. */
function frameOf(
  page: string,
  { elements, doctypeEnd }: ParsedHtml,
  head: string,
  locale: string,
): Insertion[] {
  const written = (name: string) =>
    elements.find((each) => each.tagName === name && each.sourceCodeLocation?.startTag);
  const endOf = (element: Element) => element.sourceCodeLocation?.startTag?.endOffset ?? 0;
  const lang = `lang="${escapeText(locale)}"`;
  const root = written("html");
  const own = written("head");
  const insertions: Insertion[] = [];
  if (doctypeEnd === 0) insertions.push({ at: 0, text: "<!doctype html>" });
  if (root && attributeOf(root, "lang") === undefined) {
    const at = (root.sourceCodeLocation?.startOffset ?? 0) + "<html".length;
    insertions.push({ at, text: ` ${lang}` });
  }
  if (own) return [...insertions, { at: endOf(own), text: head }];
  const whole = `<head>${head}</head>`;
  if (root) return [...insertions, { at: endOf(root), text: whole }];
  const isBody = written("body") !== undefined;
  const begin = `<html ${lang}>${whole}${isBody ? "" : "<body>"}`;
  const end = isBody ? "</html>" : "</body></html>";
  return [...insertions, { at: doctypeEnd, text: begin }, { at: page.length, text: end }];
}

function headOf(
  elements: readonly Element[],
  title: string,
  options: CenterContent["options"],
): string {
  const hasMeta = (name: string) =>
    elements.some(
      (each) => each.tagName === "meta" && attributeOf(each, "name")?.toLowerCase() === name,
    );
  const hasCharset = elements.some(
    (each) => each.tagName === "meta" && attributeOf(each, "charset") !== undefined,
  );
  const hasTitle = elements.some(
    (each) => each.tagName === "title" && each.parentNode && isHead(each),
  );
  return [
    hasCharset ? "" : '<meta charset="utf-8">',
    hasMeta("viewport")
      ? ""
      : `<meta name="viewport" content="${escapeText(options["meta-viewport-content"])}">`,
    hasTitle ? "" : `<title>${escapeText(title)}</title>`,
    ...(options["links-tags"] ?? []).map(linkTag),
  ].join("");
}

/** The title of a drawing (`svg`) is none of the page. */
const isHead = ({ parentNode }: Element): boolean =>
  parentNode !== null && "tagName" in parentNode && parentNode.tagName === "head";

const linkTag = (tag: LinkTag): string =>
  `<link ${Object.entries(tag)
    .map(([name, value]) => `${name}="${escapeText(String(value))}"`)
    .join(" ")}>`;

/** As HTML, and without Liquid. */
const escapeText = (text: string): string =>
  text.replace(/[&<>"'{}]/g, (character) => `&#${character.charCodeAt(0)};`);

const FIELD = /\{%-?\s*form_field_name\b|\.field_name\b/;

/**
 * A box that is not ticked is not sent. A hidden field of the same name goes before a box that is
 * named by `form_field_name`, so that unticking it unsubscribes. There is none if its form has one
 * already, or if ticking the box unsubscribes: leaving such a box alone is no choice.
 */
function untickedFields(page: string, inputs: readonly Element[]): Insertion[] {
  const hidden = new Map<Element | undefined, Set<string | undefined>>();
  for (const input of inputs.filter((each) => isOfType(each, "hidden"))) {
    const form = formOf(input);
    hidden.set(form, (hidden.get(form) ?? new Set()).add(sourceOfName(page, input)));
  }
  return inputs.flatMap((input) => {
    if (!isOfType(input, "checkbox") || attributeOf(input, "value") === "unsubscribed") return [];
    const name = sourceOfName(page, input);
    const at = input.sourceCodeLocation?.startOffset;
    if (name === undefined || at === undefined || !FIELD.test(name)) return [];
    if (hidden.get(formOf(input))?.has(name)) return [];
    return [{ at, text: `<input type="hidden" ${name} value="unsubscribed">` }];
  });
}

const isOfType = (input: Element, type: string): boolean =>
  attributeOf(input, "type")?.toLowerCase() === type;

function formOf({ parentNode }: Element): Element | undefined {
  if (parentNode === null || !("tagName" in parentNode)) return undefined;
  return parentNode.tagName === "form" ? parentNode : formOf(parentNode);
}

/** `name="…"` as written, with its Liquid. */
function sourceOfName(page: string, { sourceCodeLocation }: Element): string | undefined {
  const place = sourceCodeLocation?.attrs?.name;
  return place && page.slice(place.startOffset, place.endOffset);
}
