import { Liquid, Parser, type TagToken, type Template, type TopLevelToken } from "liquidjs";
import { accepted, type Checked, refused } from "../../core/base/problem.ts";
import { mask, unmask } from "./liquid-names.ts";

/*
 * Liquid for translations: which strings a content has, whether a string can be rendered, and a content with
 * every translation tag replaced.
 *
 * No tag includes files, and a content has only the values that it assigns. Personalization
 * (`{{${first_name} | default: 'you'}}`) has no user and shows its defaults.
 */

/** `{% translation id_0 %}Hello{% endtranslation %}`: its id and its text as written. */
export interface TranslationTag {
  readonly id: string;
  readonly text: string;
}

/** Strings, ranges and arrays that one rendering may make, in characters and elements together. */
const MEMORY_LIMIT = 1_000_000;

/** How long one rendering may occupy the thread. */
const RENDER_LIMIT_MS = 250;

const LONGEST_OUTPUT = 1_048_576;

const TAGS_THAT_READ_FILES = ["include", "render", "layout", "block"];

/**
 * Without spaces, which would end it inside a tag, and without characters that XML cannot contain.
 */
const ID = /^[^\s\p{C}]{1,255}$/u;

export const isTranslationId = (id: string): boolean => ID.test(id);

function createEngine(): Liquid {
  const engine = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    memoryLimit: MEMORY_LIMIT,
    renderLimit: RENDER_LIMIT_MS,
    groupedExpressions: true,
  });
  for (const name of TAGS_THAT_READ_FILES) delete engine.tags[name];
  return engine;
}

/** Without the translation tag, which strings cannot contain. */
const strings = createEngine();

export function findLiquidFault(text: string): string | undefined {
  if (!LIQUID.test(text)) return undefined;
  try {
    strings.parse(mask(text));
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** A tag counts once more for each so many characters. */
const LENGTH_OF_A_TAG = 32;

/** Between lines, filters and arguments. */
const DIVIDERS = new Set([..."\n|,"].map((each) => each.charCodeAt(0)));

/**
 * How many tags and outputs a text has; parsing takes time and memory in proportion. A long one counts as many, and so do
 * its filters, arguments and lines: `{% liquid %}` holds a tag in each line.
 */
export function countLiquid(text: string): number {
  const begin = /\{[{%]/g;
  // Without an end a tag is raw text, or the text is no Liquid.
  const last = { "{{": text.lastIndexOf("}}"), "{%": text.lastIndexOf("%}") };
  let count = 0;
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    count++;
    const kind = found[0] as "{{" | "{%";
    const from = begin.lastIndex;
    if (last[kind] < from) continue;
    const end = text.indexOf(kind === "{{" ? "}}" : "%}", from);
    count += Math.floor((end - from) / LENGTH_OF_A_TAG);
    for (let place = from; place < end; place++) {
      if (DIVIDERS.has(text.charCodeAt(place))) count++;
    }
    begin.lastIndex = end;
  }
  return count;
}

export function readTranslationTags(content: string): Checked<readonly TranslationTag[]> {
  try {
    return accepted(parseContent(content, (tag) => tag.text).tags);
  } catch (error) {
    return refused("INVALID_TRANSLATIONS", reasonOf(error));
  }
}

/** A content as a reader sees it, with `translate` supplying the text for each tag. */
export function renderContent(
  content: string,
  translate: (tag: TranslationTag) => string,
): Checked<string> {
  try {
    const { engine, templates } = parseContent(content, translate);
    const text = String(engine.renderSync(templates));
    if (text.length <= LONGEST_OUTPUT) return accepted(unmask(text));
    return refused("INVALID_TRANSLATIONS", `it is longer than ${LONGEST_OUTPUT} characters`);
  } catch (error) {
    return refused("INVALID_TRANSLATIONS", reasonOf(error));
  }
}

function parseContent(content: string, translate: (tag: TranslationTag) => string) {
  const engine = createEngine();
  const tags: TranslationTag[] = [];
  let isInside = false;
  engine.registerTag("translation", {
    parse(begin: TagToken, remaining: TopLevelToken[]) {
      if (isInside) throw new Error("translations cannot be nested");
      isInside = true;
      const end = findEnd(engine, begin, remaining);
      isInside = false;
      this.tag = tagOf(content, begin, end);
      tags.push(this.tag);
    },
    *render(context, emitter) {
      const templates = strings.parse(mask(translate(this.tag)));
      yield engine.renderer.renderTemplates(templates, context, emitter);
    },
  });
  return { engine, templates: engine.parse(mask(content)), tags };
}

/** Parses the text up to the end tag, which must be Liquid too, and returns that tag. */
function findEnd(engine: Liquid, begin: TagToken, remaining: TopLevelToken[]): TagToken {
  let end: TagToken | undefined;
  const stream = new Parser(engine).parseStream(remaining);
  stream.on<TagToken>("tag:endtranslation", (token) => {
    end = token;
    stream.stop();
  });
  stream.on<Template>("template", () => {});
  stream.start();
  if (!end) throw new Error(`tag "translation ${begin.args}" not closed`);
  return end;
}

/** Positions in the masked content equal those in the content itself. */
function tagOf(content: string, begin: TagToken, end: TagToken): TranslationTag {
  const id = unmask(begin.args.trim());
  if (!isTranslationId(id)) throw new Error("a translation needs an id without spaces");
  if (!content.startsWith("{%", begin.begin)) {
    throw new Error("a translation is not allowed inside a liquid tag");
  }
  let text = content.slice(begin.end, end.begin);
  if (begin.trimRight) text = text.trimStart();
  if (end.trimLeft) text = text.trimEnd();
  return { id, text };
}

/** The message of the library, with line and column. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.includes("call stack") ? "it is nested too deeply" : unmask(message);
}

const LIQUID = /\{[{%]/;
