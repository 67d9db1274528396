import {
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  type Parser,
  type TreeAdapter,
} from "parse5";

/*
 * The work of an HTML parser that one page may cause. A short page can cost very much: formatting elements that are
 * left open are repeated in every paragraph after them, and misnested ones move whole subtrees. A page of 18 KB with
 * 1,000 of them and 1,000 paragraphs takes the 192 MB of a thread and two seconds; counted, it is refused within
 * milliseconds, on every machine, with the reason. So the parser's work is counted while it happens.
 */

/** The most of each; responses quote their names. */
export const HTML_BUDGETS = {
  /** Elements, texts and comments. */
  html_nodes: 20_000,
  /** Elements inside one another. */
  html_depth: 256,
  /** Formatting elements, such as `<b>`, that are open at the same time. */
  html_formatting: 32,
  /** Tokens that are read, nodes that are placed, and siblings that are searched. */
  html_work: 250_000,
} as const;

export type HtmlBudget = keyof typeof HTML_BUDGETS;

const RULES: Readonly<Record<HtmlBudget, string>> = {
  html_nodes: `it has more than ${HTML_BUDGETS.html_nodes} elements, texts and comments`,
  html_depth: `more than ${HTML_BUDGETS.html_depth} elements are nested`,
  html_formatting: `more than ${HTML_BUDGETS.html_formatting} formatting elements are open at once`,
  html_work: `it takes more than ${HTML_BUDGETS.html_work} steps to parse`,
};

export class HtmlBudgetExceeded extends Error {
  readonly budget: HtmlBudget;

  constructor(budget: HtmlBudget) {
    super(RULES[budget]);
    this.name = "HtmlBudgetExceeded";
    this.budget = budget;
  }
}

/** Counts what parsing a page costs. */
export type HtmlMeter = ReturnType<typeof createHtmlMeter>;

/** How many searched siblings count as one step. */
const SIBLINGS_A_STEP = 64;

type Parent = DefaultTreeAdapterMap["parentNode"];

/** @throws HtmlBudgetExceeded from everything that it counts. */
export function createHtmlMeter() {
  let nodes = 0;
  let work = 0;

  function spend(steps: number): void {
    work += steps;
    if (work > HTML_BUDGETS.html_work) throw new HtmlBudgetExceeded("html_work");
  }
  function addNode(): void {
    if (++nodes > HTML_BUDGETS.html_nodes) throw new HtmlBudgetExceeded("html_nodes");
  }
  const search = (parent: Parent | null) =>
    spend(1 + (parent?.childNodes.length ?? 0) / SIBLINGS_A_STEP);
  const { createElement, createCommentNode, createTextNode } = defaultTreeAdapter;
  const { appendChild, insertBefore, insertText, insertTextBefore, detachNode } =
    defaultTreeAdapter;

  const treeAdapter: TreeAdapter<DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createElement(...args) {
      addNode();
      return createElement(...args);
    },
    createCommentNode(data) {
      addNode();
      return createCommentNode(data);
    },
    createTextNode(value) {
      addNode();
      return createTextNode(value);
    },
    appendChild(parent, node) {
      spend(1);
      appendChild(parent, node);
    },
    insertBefore(parent, node, reference) {
      search(parent);
      insertBefore(parent, node, reference);
    },
    insertText(parent, text) {
      addNode();
      insertText(parent, text);
    },
    insertTextBefore(parent, text, reference) {
      addNode();
      search(parent);
      insertTextBefore(parent, text, reference);
    },
    detachNode(node) {
      search(node.parentNode);
      detachNode(node);
    },
  };

  return {
    /** Steps so far. */
    get work() {
      return work;
    },
    /** Builds the tree, and counts the work. */
    treeAdapter,
    /** Counts a token, and checks the open elements. @throws HtmlBudgetExceeded */
    token(parser: Parser<DefaultTreeAdapterMap>) {
      spend(1);
      if (parser.openElements.stackTop > HTML_BUDGETS.html_depth) {
        throw new HtmlBudgetExceeded("html_depth");
      }
      if (countFormatting(parser) > HTML_BUDGETS.html_formatting) {
        throw new HtmlBudgetExceeded("html_formatting");
      }
    },
  };
}

function countFormatting({ activeFormattingElements }: Parser<DefaultTreeAdapterMap>): number {
  let count = 0;
  for (let entry = activeFormattingElements.newest; entry; entry = entry.older) {
    if (++count > HTML_BUDGETS.html_formatting) break;
  }
  return count;
}
