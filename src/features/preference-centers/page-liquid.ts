import {
  Context,
  type Emitter,
  Liquid,
  Parser,
  type TagToken,
  type Template,
  type TopLevelToken,
  toValueSync,
} from "liquidjs";
import { maskNested, unmask } from "../liquid/feature.ts";
import { GLOBAL_FIELD, groupField } from "./fields.ts";

/*
 * Liquid as pages have it: the publicly known names and tags, every value escaped, and budgets for the
 * steps and the memory of one rendering. They are counted, so a page gets the same verdict each time.
 *
 * Nothing is read from outside: there are no tags that include files. The values that a template
 * can use are in the scope that it is rendered with (`page-scope.ts`).
 */

/**
 * Tags, outputs and texts that one rendering may go through, counted again in each pass of a loop.
 */
const STEP_LIMIT = 50_000;

/** Characters and elements that one rendering may make: its output, and all on the way to it. */
const MEMORY_LIMIT = 4_000_000;

const TOO_MANY_STEPS = "too many steps";

const TAGS_THAT_READ_FILES = ["include", "render", "layout", "block"];

/** These filters escape by themselves; otherwise the output would be escaped twice. */
const FILTERS_THAT_ESCAPE = ["escape", "escape_once", "xml_escape"];

export interface PageTemplate {
  readonly engine: Liquid;
  readonly templates: Template[];
}

/** Why a text is no Liquid, and where: both count from 1. */
export interface LiquidFault {
  readonly reason: string;
  readonly line: number;
  readonly column: number;
}

/** Texts that replace those between translation tags, by the id of the tag. */
export type Texts = Readonly<Record<string, string>>;

/**
 * Parses a page.
 *
 * @param texts the texts of another language; the page's own text replaces missing ones.
 */
export function parsePage(
  html: string,
  texts: Texts = {},
): { readonly template: PageTemplate } | { readonly fault: LiquidFault } {
  const engine = createEngine();
  addTranslationTag(engine, texts);
  try {
    return { template: { engine, templates: parse(engine, html) } };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** @throws an error with the place at its end. */
function parse(engine: Liquid, text: string): Template[] {
  const { masked, filters } = maskNested(text);
  const templates = engine.parse(masked);
  for (const { name, at } of filters) {
    if (Object.hasOwn(engine.filters, name)) continue;
    const lines = text.slice(0, at).split("\n");
    const column = 1 + (lines.at(-1)?.length ?? 0);
    throw new Error(`undefined filter: ${name}, line:${lines.length}, col:${column}`);
  }
  return templates;
}

/**
 * Renders a page with the values of one person.
 *
 * @returns the HTML, or why there is none: it exceeds a budget, or a filter rejects its value.
 */
export function renderPage(
  { engine, templates }: PageTemplate,
  scope: Readonly<Record<string, unknown>>,
): { readonly html: string } | { readonly reason: string } {
  const context = new Context(
    scope,
    engine.options,
    { sync: true },
    { renderLimit: countSteps(), liquid: engine },
  );
  try {
    return { html: String(toValueSync(engine.renderer.renderTemplates(templates, context))) };
  } catch (error) {
    // Columns refer to the document that was made of the page.
    const { reason, line } = faultOf(error);
    return { reason: `line ${line}: ${reason}` };
  }
}

/** Replaces the library's limit, which measures time: this is checked before every step. */
function countSteps(): Context["renderLimit"] {
  let steps = 0;
  const check = () => {
    if (++steps > STEP_LIMIT) throw new Error(TOO_MANY_STEPS);
  };
  return { check } as unknown as Context["renderLimit"];
}

/** Why a text cannot be between translation tags, or undefined. */
export function findTextFault(text: string): string | undefined {
  try {
    parse(textEngine, text);
    return undefined;
  } catch (error) {
    return faultOf(error).reason;
  }
}

function createEngine(): Liquid {
  const engine = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    outputEscape: "escape",
    memoryLimit: MEMORY_LIMIT,
    groupedExpressions: true,
  });
  for (const name of TAGS_THAT_READ_FILES) delete engine.tags[name];
  for (const name of FILTERS_THAT_ESCAPE) {
    const handler = engine.filters[name];
    if (typeof handler === "function") engine.registerFilter(name, { handler, raw: true });
  }
  countOutput(engine);
  engine.registerTag("form_field_name", {
    parse(token: TagToken) {
      this.field = fieldNamed(token.args);
    },
    render(context) {
      return escapeHtml(this.field, context);
    },
  });
  engine.registerTag("preference_center_submit_url", {
    render(context) {
      return escapeHtml(context.getSync(["preference_center_submit_url"]), context);
    },
  });
  return engine;

  function escapeHtml(value: unknown, context: Context): string {
    return (engine.options.outputEscape as (this: object, value: unknown) => string).call(
      { context },
      value,
    );
  }
}

/** The library counts what filters make; here everything is counted that is put into a text. */
function countOutput({ renderer }: Liquid): void {
  const renderTemplates = renderer.renderTemplates.bind(renderer);
  renderer.renderTemplates = (templates, context, emitter = countingEmitter(context)) =>
    renderTemplates(templates, context, emitter);
}

function countingEmitter({ memoryLimit }: Context): Emitter {
  const emitter = {
    buffer: "",
    write(value: unknown) {
      const text = textOf(value);
      memoryLimit.use(text.length);
      emitter.buffer += text;
    },
  };
  return emitter;
}

const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? ""
    : Array.isArray(value)
      ? value.map(textOf).join("")
      : String(value);

/** Publicly known: `:email_global_state`, or `:subscription_group` and an id. */
function fieldNamed(args: string): string {
  const [kind = "", ...rest] = unmask(args).trim().split(/\s+/);
  const id = rest.join(" ").replace(/^(["'])(.*)\1$/, "$2");
  if (kind === ":email_global_state" && id === "") return GLOBAL_FIELD;
  if (kind === ":subscription_group" && id !== "") return groupField(id);
  throw new Error(
    "form_field_name takes ':email_global_state', or ':subscription_group' and the id of a group",
  );
}

/**
 * For texts in other languages; it has no translation tag, because a text cannot contain another
 * one.
 */
const textEngine = createEngine();

function addTranslationTag(engine: Liquid, texts: Texts): void {
  let isInside = false;
  // A page may have a tag many times.
  const parsed = new Map<string, Template[]>();
  engine.registerTag("translation", {
    parse(begin: TagToken, remaining: TopLevelToken[]) {
      const id = unmask(begin.args.trim());
      if (!/^\S{1,255}$/.test(id)) throw new Error("a translation needs an id without spaces");
      if (isInside) throw new Error("translations cannot be nested");
      isInside = true;
      const own = templatesUntil("endtranslation", engine, begin, remaining);
      isInside = false;
      const text = Object.hasOwn(texts, id) ? texts[id] : undefined;
      if (text !== undefined && !parsed.has(id)) parsed.set(id, parse(textEngine, text));
      this.templates = parsed.get(id) ?? own;
    },
    *render(context, emitter) {
      yield engine.renderer.renderTemplates(this.templates, context, emitter);
    },
  });
}

function templatesUntil(
  end: string,
  engine: Liquid,
  begin: TagToken,
  remaining: TopLevelToken[],
): Template[] {
  const templates: Template[] = [];
  let isClosed = false;
  const stream = new Parser(engine).parseStream(remaining);
  stream.on(`tag:${end}`, () => {
    isClosed = true;
    stream.stop();
  });
  stream.on<Template>("template", (template) => templates.push(template));
  stream.start();
  if (!isClosed) throw new Error(`tag "${begin.name}" not closed`);
  return templates;
}

/** The library's message without the place. */
function faultOf(error: unknown): LiquidFault {
  const message = unmask(error instanceof Error ? error.message : String(error));
  if (message.includes("call stack")) return { reason: "nested too deeply", line: 1, column: 1 };
  const place = /, line:(\d+), col:(\d+)$/.exec(message);
  return {
    reason: REASONS.find(([said]) => message.includes(said))?.[1] ?? message.slice(0, place?.index),
    line: Number(place?.[1] ?? 1),
    column: Number(place?.[2] ?? 1),
  };
}

/** In our words if the library's say too little. */
const REASONS: readonly (readonly [said: string, reason: string])[] = [
  [TOO_MANY_STEPS, `it takes more than ${STEP_LIMIT} steps`],
  ["memory alloc limit exceeded", `it has more than ${MEMORY_LIMIT} characters`],
];
