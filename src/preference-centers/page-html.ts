import { type DefaultTreeAdapterMap, defaultTreeAdapter, html, Parser } from "parse5";
import { viewWithoutLiquid } from "./liquid-view.ts";

/* The HTML of a page: what is wrong with it, what a browser will not do with it, and its parts. */

export type Element = DefaultTreeAdapterMap["element"];

type Node = DefaultTreeAdapterMap["node"];

/** Something about a page, and where; lines count from 1. */
export interface HtmlNote {
  readonly message: string;
  readonly line: number;
}

/** A page as an HTML parser sees it, all places being those of the page as it was written. */
export interface ParsedHtml {
  /** In their order. */
  readonly elements: readonly Element[];
  /** The fields of every alternative, not only of the first. */
  readonly inputs: readonly Element[];
  /** Where the doctype ends; 0 where there is none. */
  readonly doctypeEnd: number;
  /** The first thing that is wrong with it. */
  readonly fault: HtmlNote | undefined;
}

/** What a parser tells is wrong though a browser makes something of it. The others mean nothing here. */
const FAULTS: Readonly<Record<string, string>> = {
  "eof-before-tag-name": "a tag is not ended",
  "eof-in-comment": "a comment is not ended",
  "eof-in-doctype": "the doctype is not ended",
  "eof-in-element-that-can-contain-only-text": "an element that holds only text is not closed",
  "eof-in-tag": "a tag or a quote in it is not ended",
  "invalid-first-character-of-tag-name": "'<' begins no tag; as a character it is written '&lt;'",
  "missing-attribute-value": "an attribute has '=' and no value",
  "missing-end-tag-name": "an end tag has no name",
  "missing-whitespace-between-attributes": "two attributes stand without a blank between them",
  "unexpected-character-in-attribute-name": "the name of an attribute has a quote or '<' in it",
  "unexpected-character-in-unquoted-attribute-value": "a value without quotes has one in it",
  "unexpected-equals-sign-before-attribute-name": "'=' stands where an attribute begins",
};

/** Elements that end by themselves. */
const OPTIONAL_END = new Set(
  `html head body p li dt dd option optgroup colgroup caption thead tbody tfoot tr td th rb rt rtc
   rp`.split(/\s+/),
);

const VOID = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);

/** Parses a page whose Liquid can be parsed. */
export function parseHtml(page: string): ParsedHtml {
  const [first, every] = [viewWithoutLiquid(page), viewWithoutLiquid(page, "all")];
  const shown = parseView(first);
  // The elements of several alternatives need not fit together; fields stand for themselves.
  const all = every === first ? shown : parseView(every);
  const fault = shown.faults[0] ?? shown.elements.map(unclosed).find((note) => note !== undefined);
  return {
    elements: shown.elements,
    inputs: all.elements.filter(({ tagName }) => tagName === "input"),
    doctypeEnd: shown.doctypeEnd,
    fault: fault ?? all.faults.find(({ message }) => message === TOO_DEEP.message),
  };
}

function parseView(view: string) {
  const faults: HtmlNote[] = [];
  const parser = new Parser<DefaultTreeAdapterMap>({
    sourceCodeLocationInfo: true,
    treeAdapter: defaultTreeAdapter,
    onParseError({ code, startLine }) {
      const message = FAULTS[code];
      // A tag that never ends is noticed at the end of the page, and sought where it begins.
      // biome-ignore lint/complexity/useLiteralKeys: the parser does not hand it out.
      const open = code === "eof-in-tag" ? parser.tokenizer["currentToken"] : null;
      if (message) faults.push({ message, line: open?.location?.startLine ?? startLine });
    },
  });
  watchNesting(parser, faults);
  try {
    parser.tokenizer.write(view, true);
  } catch (error) {
    if (error !== TOO_DEEP) throw error;
    const line = parser.tokenizer.preprocessor.line;
    return { elements: [], doctypeEnd: 0, faults: [{ message: TOO_DEEP.message, line }] };
  }
  const elements = [...elementsBelow(parser.document)];
  return { elements, doctypeEnd: doctypeEndOf(parser.document), faults };
}

/** Deeper than any page, and shallow enough that looking through what is open takes no time. */
const DEEPEST = 256;

const TOO_DEEP = new Error(`more than ${DEEPEST} elements stand inside one another`);

/** The parser takes any depth, and says nothing of an end tag that closes nothing. */
function watchNesting(parser: Parser<DefaultTreeAdapterMap>, faults: HtmlNote[]): void {
  const onStartTag = parser.onStartTag.bind(parser);
  parser.onStartTag = (token) => {
    onStartTag(token);
    if (parser.openElements.stackTop > DEEPEST) throw TOO_DEEP;
  };
  const onEndTag = parser.onEndTag.bind(parser);
  parser.onEndTag = (token) => {
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
    if ("childNodes" in next) waiting.push(...next.childNodes.toReversed());
    if (nameOf(next) === "template" && "content" in next) waiting.push(next.content);
  }
}

/** An element that was begun, must be ended, and is not. */
function unclosed({ tagName, namespaceURI, sourceCodeLocation }: Element): HtmlNote | undefined {
  // What the parser itself has put in has no location.
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

/** What stands in a page and has no effect, because a page runs nothing and loads no code. */
export function findIneffective({ elements }: ParsedHtml): HtmlNote[] {
  return elements.flatMap((element) => {
    const line = element.sourceCodeLocation?.startLine ?? 1;
    return ineffectiveIn(element).map((message) => ({ message, line }));
  });
}

const NEVER_LOADED = new Set(["iframe", "frame", "object", "embed", "applet", "audio", "video"]);

function ineffectiveIn(element: Element): string[] {
  const { tagName, attrs } = element;
  const found: string[] = [];
  if (tagName === "script") found.push("a page runs no script");
  if (NEVER_LOADED.has(tagName)) found.push(`a page loads nothing into '<${tagName}>'`);
  if (tagName === "form" && /^\s*(https?:|\/\/)/i.test(attributeOf(element, "action") ?? "")) {
    found.push("a page sends no form elsewhere");
  }
  if (tagName === "base") found.push("a page heeds no '<base>'");
  if (tagName === "link" && /stylesheet/i.test(attributeOf(element, "rel") ?? "")) {
    found.push("a page loads no style sheet; styles stand in '<style>'");
  }
  for (const { name, value } of attrs) {
    if (/^on[a-z]/.test(name)) found.push(`a page runs no script, and '${name}' is one`);
    if (/^\s*javascript:/i.test(value)) found.push(`a page runs no script, and '${name}' has one`);
  }
  return found;
}
