import { mask } from "../liquid/feature.ts";

/*
 * A page with its Liquid taken out, so that an HTML parser can check the rest. Every character
 * keeps its place, so that lines, columns and offsets are the page's own.
 *
 * The first of several alternatives (`if`, `unless`, `case`) stays, as if it were shown: the
 * elements of several would not fit together. Single fields can be sought in all of them. A tag
 * becomes blanks, an output letters; so does a tag that puts out a value.
 */

/** Which of alternatives stay. */
export type Alternatives = "first" | "all";

const TAGS_THAT_PUT_OUT = new Set([
  "form_field_name",
  "preference_center_submit_url",
  "echo",
  "cycle",
  "increment",
  "decrement",
]);

interface Part {
  readonly begin: number;
  readonly end: number;
  /** The name of a tag; undefined for an output. */
  readonly tag: string | undefined;
}

/** A block whose alternatives exclude each other; a loop has no alternatives but `else`. */
interface Block {
  readonly tag: string;
  readonly isShownAround: boolean;
  isShown: boolean;
  /** Whether an alternative was shown already. */
  isDone: boolean;
}

/** @param page whose Liquid can be parsed. Takes time in proportion to its length. */
export function viewWithoutLiquid(page: string, alternatives: Alternatives = "first"): string {
  const blocks: Block[] = [];
  const view: string[] = [];
  let at = 0;
  for (const { begin, end, tag } of partsOf(page)) {
    const isShown = isAllShown(blocks);
    const text = page.slice(at, begin);
    const part = page.slice(begin, end);
    view.push(isShown ? text : blank(text));
    const isOutput = tag === undefined || TAGS_THAT_PUT_OUT.has(tag);
    view.push(isShown && isOutput ? letters(part) : blank(part));
    if (tag !== undefined) enter(blocks, tag, alternatives);
    at = end;
  }
  view.push(page.slice(at));
  return view.join("");
}

const BLOCKS = new Set("if unless case for tablerow capture translation".split(" "));

/** How deeply blocks are nested. @param page any text. */
export function liquidDepth(page: string): number {
  let depth = 0;
  let deepest = 0;
  for (const { tag } of partsOf(page)) {
    if (tag === undefined) continue;
    if (BLOCKS.has(tag)) deepest = Math.max(deepest, ++depth);
    else if (tag.startsWith("end") && BLOCKS.has(tag.slice(3))) depth--;
  }
  return deepest;
}

/** Asking the innermost block is enough, however many there are. */
function isAllShown(blocks: readonly Block[]): boolean {
  const current = blocks.at(-1);
  return current === undefined || (current.isShownAround && current.isShown);
}

const OPENING = /\{([{%])/g;

const NAME = /-?\s*(\w*)/y;

const END_OF = { raw: /\{%-?\s*endraw\s*-?%\}/g, comment: /\{%-?\s*endcomment\s*-?%\}/g } as const;

function* partsOf(text: string): Generator<Part> {
  const page = mask(text);
  for (let at = 0; ; ) {
    const opening = search(OPENING, page, at);
    if (!opening) return;
    const isTag = opening[1] === "%";
    const closing = page.indexOf(isTag ? "%}" : "}}", opening.index + 2);
    if (closing < 0) return;
    const tag = isTag ? (search(NAME, page, opening.index + 2)?.[1] ?? "") : undefined;
    const ending = tag === "raw" || tag === "comment" ? END_OF[tag] : undefined;
    const last = ending && search(ending, page, closing);
    const end = last ? last.index + last[0].length : closing + 2;
    if (last && tag === "raw") {
      yield { begin: opening.index, end: closing + 2, tag };
      yield { begin: last.index, end, tag: "endraw" };
    } else {
      yield { begin: opening.index, end, tag };
    }
    at = end;
  }
}

function search(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

function enter(blocks: Block[], tag: string, alternatives: Alternatives): void {
  const current = blocks.at(-1);
  switch (tag) {
    case "if":
    case "unless":
    case "for":
    case "tablerow":
      blocks.push({ tag, isShownAround: isAllShown(blocks), isShown: true, isDone: true });
      break;
    case "case":
      // Text before the first `when` is never shown.
      blocks.push({ tag, isShownAround: isAllShown(blocks), isShown: false, isDone: false });
      break;
    case "elsif":
    case "else":
    case "when":
      if (!current) break;
      current.isShown = alternatives === "all" || !current.isDone;
      current.isDone = true;
      break;
    default:
      if (current && tag === `end${current.tag}`) blocks.pop();
  }
}

const blank = (text: string): string => text.replace(/[^\n]/g, " ");

const letters = (text: string): string => text.replace(/[^\n]/g, "x");
