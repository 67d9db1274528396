import { type DefaultTreeAdapterMap, html, Parser } from "parse5";
import {
  createHtmlMeter,
  type HtmlBudget,
  HtmlBudgetExceeded,
  type HtmlMeter,
} from "./html-budget.ts";
import { viewWithoutLiquid } from "./liquid-view.ts";
import { isImageHost } from "./page-policy.ts";

/* The HTML of a page: its faults, the parts that a browser ignores, and its elements. */

export type Element = DefaultTreeAdapterMap["element"];

type Node = DefaultTreeAdapterMap["node"];

/** Something about a page, and where; lines count from 1. */
export interface HtmlNote {
  readonly message: string;
  readonly line: number;
  readonly budget?: HtmlBudget;
}

/** A page as an HTML parser sees it; all positions refer to the page as written. */
export interface ParsedHtml {
  /** In their order. */
  readonly elements: readonly Element[];
  /** The fields of every alternative, not only of the first. */
  readonly inputs: readonly Element[];
  /** The end of the doctype; 0 if there is none. */
  readonly doctypeEnd: number;
  readonly fault: HtmlNote | undefined;
  /** The cost of parsing it, in the steps of its budget. */
  readonly work: number;
}

/** Parser errors that matter though browsers tolerate them. The others are ignored. */
const FAULTS: Readonly<Record<string, string>> = {
  "eof-before-tag-name": "a tag is not closed",
  "eof-in-comment": "a comment is not closed",
  "eof-in-doctype": "the doctype is not closed",
  "eof-in-element-that-can-contain-only-text": "an element that holds only text is not closed",
  "eof-in-tag": "a tag, or a quote in it, is not closed",
  "invalid-first-character-of-tag-name": "'<' does not begin a tag; write it as '&lt;'",
  "missing-attribute-value": "an attribute has '=' and no value",
  "missing-end-tag-name": "an end tag has no name",
  "missing-whitespace-between-attributes": "two attributes need a space between them",
  "unexpected-character-in-attribute-name": "the name of an attribute has a quote or '<' in it",
  "unexpected-character-in-unquoted-attribute-value": "a value without quotes has one in it",
  "unexpected-equals-sign-before-attribute-name": "'=' is where an attribute name should begin",
};

/** Elements that end by themselves. */
const OPTIONAL_END = new Set(
  `html head body p li dt dd option optgroup colgroup caption thead tbody tfoot tr td th rb rt rtc
   rp`.split(/\s+/),
);

const VOID = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);

/**
 * Parses a page whose Liquid can be parsed. If it exceeds a budget there are no elements, and the
 * fault names the budget.
 */
export function parseHtml(page: string): ParsedHtml {
  const [first, every] = [viewWithoutLiquid(page), viewWithoutLiquid(page, "all")];
  const shown = parseView(first);
  // The elements of several alternatives need not fit together; fields are checked one by one.
  const all = every === first ? shown : parseView(every);
  const fault =
    shown.faults[0] ??
    shown.elements.map(unclosed).find((note) => note !== undefined) ??
    all.elements.map(leadsElsewhere).find((note) => note !== undefined);
  return {
    elements: shown.elements,
    inputs: all.elements.filter(({ tagName }) => tagName === "input"),
    doctypeEnd: shown.doctypeEnd,
    fault: fault ?? all.faults.find(({ budget }) => budget !== undefined),
    work: shown.work + (all === shown ? 0 : all.work),
  };
}

function parseView(view: string) {
  const faults: HtmlNote[] = [];
  const meter = createHtmlMeter();
  const parser = new Parser<DefaultTreeAdapterMap>({
    sourceCodeLocationInfo: true,
    treeAdapter: meter.treeAdapter,
    onParseError({ code, startLine }) {
      const message = FAULTS[code];
      // An unclosed tag is noticed at the end of the page, and reported at its beginning.
      // biome-ignore lint/complexity/useLiteralKeys: the parser has no other way to it.
      const open = code === "eof-in-tag" ? parser.tokenizer["currentToken"] : null;
      if (message) faults.push({ message, line: open?.location?.startLine ?? startLine });
    },
  });
  watchTokens(parser, meter, faults);
  try {
    parser.tokenizer.write(view, true);
  } catch (error) {
    if (!(error instanceof HtmlBudgetExceeded)) throw error;
    const { message, budget } = error;
    const { line } = parser.tokenizer.preprocessor;
    return { elements: [], doctypeEnd: 0, work: meter.work, faults: [{ message, line, budget }] };
  }
  const elements = [...elementsBelow(parser.document)];
  return { elements, doctypeEnd: doctypeEndOf(parser.document), work: meter.work, faults };
}

/** Counts every token, and reports an end tag that closes nothing, which the parser accepts. */
function watchTokens(
  parser: Parser<DefaultTreeAdapterMap>,
  meter: HtmlMeter,
  faults: HtmlNote[],
): void {
  const onCharacter = parser.onCharacter.bind(parser);
  parser.onCharacter = (token) => {
    meter.token(parser);
    onCharacter(token);
  };
  const onStartTag = parser.onStartTag.bind(parser);
  parser.onStartTag = (token) => {
    onStartTag(token);
    meter.token(parser);
  };
  const onEndTag = parser.onEndTag.bind(parser);
  parser.onEndTag = (token) => {
    meter.token(parser);
    const { tagName, location } = token;
    const isOpen = parser.openElements.items.some(
      (element, depth) => depth <= parser.openElements.stackTop && nameOf(element) === tagName,
    );
    if (!isOpen && !OPTIONAL_END.has(tagName)) {
      faults.push({ message: `'</${tagName}>' closes nothing`, line: location?.startLine ?? 1 });
    }
    onEndTag(token);
  };
}

const nameOf = (node: Node | undefined): string | undefined =>
  node && "tagName" in node ? node.tagName : undefined;

function* elementsBelow(node: Node): Generator<Element> {
  const waiting: Node[] = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if ("tagName" in next) yield next;
    // One by one: a call cannot have any number of arguments.
    if ("childNodes" in next) for (const child of next.childNodes.toReversed()) waiting.push(child);
    if (nameOf(next) === "template" && "content" in next) waiting.push(next.content);
  }
}

/** An element that was begun, must be ended, and is not. */
function unclosed({ tagName, namespaceURI, sourceCodeLocation }: Element): HtmlNote | undefined {
  // Elements that the parser itself has inserted have no location.
  if (!sourceCodeLocation || sourceCodeLocation.endTag) return undefined;
  if (VOID.has(tagName) || OPTIONAL_END.has(tagName)) return undefined;
  if (namespaceURI !== html.NS.HTML) return undefined;
  return { message: `'<${tagName}>' is not closed`, line: sourceCodeLocation.startLine };
}

function doctypeEndOf(document: DefaultTreeAdapterMap["document"]): number {
  const doctype = document.childNodes.find((node) => node.nodeName === "#documentType");
  return doctype?.sourceCodeLocation?.endOffset ?? 0;
}

export const attributeOf = ({ attrs }: Element, name: string): string | undefined =>
  attrs.find((attribute) => attribute.name === name)?.value;

/** The parts of a page without effect, because a page runs nothing and loads no code. */
export function findIneffective(
  { elements }: ParsedHtml,
  imageHosts: readonly string[],
): HtmlNote[] {
  return elements.flatMap((element) =>
    [...ineffectiveIn(element), ...picturesIn(element, imageHosts)].map((message) => ({
      message,
      line: lineOf(element),
    })),
  );
}

const lineOf = ({ sourceCodeLocation }: Element): number => sourceCodeLocation?.startLine ?? 1;

/** A picture with a fixed host that the workspace does not allow. */
function picturesIn(element: Element, imageHosts: readonly string[]): string[] {
  const source = attributeOf(element, "src") ?? "";
  if (element.tagName !== "img" || !/^(https?:)?\/\//i.test(source)) return [];
  const host = URL.canParse(source, "https://x") ? new URL(source, "https://x").host : "";
  // A host that Liquid writes has letters in its place.
  if (!host.includes(".") || isImageHost(imageHosts, host)) return [];
  return [`a page loads pictures only from the hosts in 'page_image_hosts', which lacks '${host}'`];
}

/** Allowed values of `http-equiv`: a page is sent with headers that say the same. */
const HARMLESS_META = new Set(["content-type", "x-ua-compatible", "content-language"]);

/**
 * `<meta http-equiv="refresh">` would send readers to another site, with the page's data about
 * them.
 */
function leadsElsewhere(element: Element): HtmlNote | undefined {
  const { tagName } = element;
  const equivalent = attributeOf(element, "http-equiv")?.trim().toLowerCase();
  if (tagName !== "meta" || equivalent === undefined || HARMLESS_META.has(equivalent)) {
    return undefined;
  }
  return { message: "a page has no '<meta http-equiv>'", line: lineOf(element) };
}

const NEVER_LOADED = new Set(["iframe", "frame", "object", "embed", "applet", "audio", "video"]);

function ineffectiveIn(element: Element): string[] {
  const { tagName, attrs } = element;
  const found: string[] = [];
  if (tagName === "script") found.push("a page runs no scripts");
  if (NEVER_LOADED.has(tagName)) found.push(`a page loads nothing into '<${tagName}>'`);
  if (tagName === "form" && /^\s*(https?:|\/\/)/i.test(attributeOf(element, "action") ?? "")) {
    found.push("a page sends forms only to Rapport");
  }
  if (tagName === "meta" && attributeOf(element, "http-equiv") !== undefined) {
    found.push("a page ignores '<meta http-equiv>'");
  }
  if (tagName === "base") found.push("a page ignores '<base>'");
  if (tagName === "link" && /stylesheet/i.test(attributeOf(element, "rel") ?? "")) {
    found.push("a page loads no external style sheets; put styles into '<style>'");
  }
  for (const { name, value } of attrs) {
    if (/^on[a-z]/.test(name)) found.push(`a page runs no scripts, and '${name}' is one`);
    if (/^\s*javascript:/i.test(value))
      found.push(`a page runs no scripts, and '${name}' contains one`);
  }
  return found;
}
