import { escapeHtml } from "../../src/core/http/sentence-page.ts";
import { CALLS, type Call, callPath, TAGS } from "./calls.ts";
import { GUIDES } from "./guides.ts";

/* The frame of every page: search, navigation, contents. */

interface Page {
  readonly title: string;
  /** Its address: the entry of the navigation for it is marked. */
  readonly path: string;
  /** The calls of this tag are in the navigation. */
  readonly tag?: string;
  /** HTML. */
  readonly main: string;
}

export const anchorOf = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

/** A path may break after each step. */
export const breakable = (path: string): string => escapeHtml(path).replaceAll("/", "/<wbr>");

export const callName = ({ method, path }: Pick<Call, "method" | "path">): string =>
  `<b class="method ${method.toLowerCase()}">${method}</b> <span class="path">${breakable(path)}</span>`;

const link = (path: string, current: string, label: string): string =>
  `<li><a href="${path}"${path === current ? ' aria-current="page"' : ""}>${label}</a></li>`;

function navigation(current: string, open: string | undefined): string {
  const groups = [...new Set(GUIDES.map(({ group }) => group))].map((group) => {
    const links = GUIDES.filter((guide) => guide.group === group).map(({ path, title }) =>
      link(path, current, escapeHtml(title)),
    );
    return `<h2>${group}</h2><ul>${links.join("")}</ul>`;
  });
  const tags = TAGS.map(({ name }) => {
    const inside =
      name === open
        ? `<ul>${CALLS.filter(({ tag }) => tag === name)
            .map((call) => link(callPath(call), current, callName(call)))
            .join("")}</ul>`
        : "";
    return `<li><a href="/docs#${anchorOf(name)}">${name}</a>${inside}</li>`;
  });
  return `<nav id="contents" aria-label="Guides and calls">${groups.join("")}<h2>Calls</h2><ul>${tags.join("")}</ul>
<h2>Documents</h2><ul><li><a href="/openapi.json">openapi.json</a></li><li><a href="/openapi-admin.json">openapi-admin.json</a></li>
<li><a href="/manifest.schema.json">manifest.schema.json</a></li><li><a href="/llms.txt">llms.txt</a></li>
<li><a href="/docs/third-party-notices">Licences</a></li></ul></nav>`;
}

const LOGO = `<svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#2f5bea"/><path d="M9 23V9h7.2a4.6 4.6 0 0 1 1.4 9L22 23h-4.2l-3.6-4.8H12.600V23z" fill="#fff"/></svg>`;

export const pageOf = ({ title, path, tag, main }: Page): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)} · Rapport</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/reference.css"><script src="/docs/reference.js" defer></script></head>
<body><a class="skip" href="#main">To the contents</a>
<header><a class="home" href="/docs">${LOGO} Rapport</a>
<form role="search" hidden><label for="search">Search guides and calls</label>
<input id="search" type="search" autocomplete="off" maxlength="100" placeholder="Search guides and calls" aria-controls="found" aria-describedby="count">
<div id="results" hidden><p id="count" role="status"></p><ul id="found"></ul></div></form>
<a class="menu" href="#contents">Contents</a><a class="dashboard" href="/dashboard/">Dashboard</a></header>
<div class="columns"><main id="main">
${main}
</main>
${navigation(path, tag)}</div>
</body></html>
`;
