import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Marked } from "marked";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { escapeHtml } from "../../src/core/http/sentence-page.ts";

/* The guides: Markdown files of the repository, each a page below /docs/guides, and the same as Markdown. */

/** By what a reader wants, in the order of the navigation. A name is a file's in docs/, or in FILES. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ["engines", "manifest", "keys", "settings", "client", "ci", "dashboard"],
  Use: [
    "users",
    "import",
    "export",
    "segments",
    "changes",
    "webhooks",
    "preference-centers",
    "translations",
    "warehouse-sync",
    "scim",
  ],
  "Look up": ["errors", "compatibility", "audit", "personal-data", "security"],
  Operate: [
    "operations/install",
    "operations/configure",
    "operations/secure",
    "operations/size",
    "scaling",
    "operations/metrics",
    "operations/telemetry",
    "operations/troubleshoot",
    "operations/faults",
    "operations/backup",
    "backup",
    "operations/upgrade",
    "operations/retention",
    "mail",
    "secrets",
    "reliability",
  ],
};

const FILES: Readonly<Record<string, string>> = {
  client: "client/README.md",
  security: "SECURITY.md",
};

export interface Guide {
  readonly name: string;
  readonly group: string;
  readonly title: string;
  /** Its address on the server. */
  readonly path: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
}

export const GUIDES: readonly Guide[] = Object.entries(GROUPS).flatMap(([group, names]) =>
  names.map((name) => {
    const file = FILES[name] ?? `docs/${name}.md`;
    const text = readFileSync(join(packageRoot(), file), "utf8");
    const [, title = name] = /^# (.*)$/m.exec(text) ?? [];
    return { name, group, title, path: `/docs/guides/${name}`, file, text };
  }),
);

/** Where a link of a guide leads on the server: to another guide, or nowhere. */
function targetOf({ file }: Guide, href: string, extension = ""): string | undefined {
  if (href.startsWith("http://127.0.0.1:8080/docs"))
    return href.replace("http://127.0.0.1:8080", "");
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const wanted = posix.join(posix.dirname(file), path);
  const found = GUIDES.find((each) => each.file === wanted);
  return found && `${found.path}${extension}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** Links to files that are no guides become their texts, pictures their captions. */
export const markdownOf = (guide: Guide): string =>
  guide.text
    .replaceAll(/!\[([^\]]*)\]\([^)]+\)/g, "*$1*")
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_whole, label: string, href: string) => {
      const target = targetOf(guide, href, ".md");
      return target === undefined ? label : `[${label}](${target})`;
    });

/** The first paragraph, as one line without links. */
export function aboutGuide({ text }: Guide): string {
  const blocks = text.replaceAll(/^```.*?^```$/gms, "").split(/\n\s*\n/);
  const about = blocks.find((block) => /^[^\s#|!<>-]/.test(block)) ?? "";
  return about
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}

/** As GitHub names headings, so that links work in both places. */
const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]+/gu, "")
    .replaceAll(" ", "-");

export interface Section {
  readonly title: string;
  readonly anchor: string;
  /** Without marks. */
  readonly text: string;
}

interface Written {
  readonly html: string;
  /** The second and third level of headings. */
  readonly sections: readonly Section[];
}

/** Addresses of people, in examples, are no links. */
const webAddress = (href: string): string | undefined =>
  href.startsWith("mailto:") ? undefined : href;

/** @param linkOf what a link leads to; undefined if to nothing. */
export function htmlOf(
  markdown: string,
  linkOf: (href: string) => string | undefined = webAddress,
): Written {
  const sections: { title: string; anchor: string; text: string }[] = [];
  const known = new Map<string, number>();
  const note = (text: string) => {
    const section = sections.at(-1);
    if (section) section.text = `${section.text} ${text.replaceAll(/[`*_|\n]+/g, " ")}`.trim();
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const title = text.replaceAll(/[`*]|\]\([^)]*\)|\[/g, "");
        const times = known.get(slugOf(title)) ?? 0;
        known.set(slugOf(title), times + 1);
        const anchor = times === 0 ? slugOf(title) : `${slugOf(title)}-${times}`;
        sections.push({ title, anchor, text: "" });
        return `<h${depth} id="${escapeHtml(anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      paragraph({ tokens, text }) {
        note(text);
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      link({ href, tokens }) {
        const target = linkOf(href);
        const label = this.parser.parseInline(tokens);
        return target === undefined ? label : `<a href="${escapeHtml(target)}">${label}</a>`;
      },
      image: ({ text }) => `<em>${escapeHtml(text)}</em>`,
      // Comments are none of the reader's business; of elements only anchors are meant as such.
      html: ({ text }) =>
        text.startsWith("<!--")
          ? ""
          : /^<a id="[\w-]+">|<\/a>$/.test(text)
            ? text
            : escapeHtml(text),
      code: ({ text }) => codeBlock(text),
      // A box that nobody can tick would need a label.
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
      table(token) {
        const cells = (row: typeof token.header, tag: "th" | "td") =>
          row
            .map((cell) => {
              note(cell.text);
              if (tag === "th" && cell.text === "") return "<td></td>";
              const scope = tag === "th" ? ' scope="col"' : "";
              return `<${tag}${scope}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
            })
            .join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return tableOf(
          `<thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody>`,
        );
      },
    },
  });
  return { html: marked.parse(markdown, { async: false }), sections };
}

/** Wide ones scroll by themselves, also with the keyboard. */
export const tableOf = (contents: string): string =>
  `<div class="wide" tabindex="0"><table>${contents}</table></div>\n`;

export const codeBlock = (text: string): string =>
  `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;

/** The page of a guide, and the sections that the search finds. */
export const renderGuide = (guide: Guide): Written =>
  htmlOf(guide.text, (href) => targetOf(guide, href));
