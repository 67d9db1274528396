import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { escapeHtml } from "../../src/core/http/sentence-page.ts";
import { SITE_FILE } from "../../src/server/reference/site.ts";
import { callPage } from "./call-page.ts";
import { CALLS, callPath, INTRODUCTION, TAGS } from "./calls.ts";
import { aboutGuide, GUIDES, htmlOf, markdownOf, renderGuide, tableOf } from "./guides.ts";
import { llmsFullText, llmsText } from "./llms.ts";
import { anchorOf, callName, pageOf } from "./page.ts";

/* Run by the build: writes the site at /docs, of the guides and of the committed OpenAPI documents. */

/** Beside this file in the sources. */
const asset = (name: string): string =>
  readFileSync(join(packageRoot(), "build", "reference", name), "utf8");

/** What the search finds: a title, an address, further words. */
type Found = readonly [title: string, path: string, words: string];

/** So many characters of a section are searched. */
const SEARCHED = 400;

const files: Record<string, string> = {
  "reference.css": asset("reference.css"),
  "reference.js": asset("reference.js"),
  "llms.txt": llmsText(),
  "llms-full.txt": llmsFullText(),
  "index.html": indexPage(),
};
const found: Found[] = [];

for (const guide of GUIDES) {
  const { html, sections } = renderGuide(guide);
  const { name, path, title } = guide;
  files[`guides/${name}.html`] = pageOf({ title, path, main: html });
  files[`guides/${name}.md`] = markdownOf(guide);
  for (const { title: heading, anchor, text } of sections) {
    const isFirst = heading === title;
    const place = isFirst ? title : `${title}: ${heading}`;
    found.push([place, isFirst ? path : `${path}#${anchor}`, text.slice(0, SEARCHED)]);
  }
}
for (const call of CALLS) {
  files[`calls/${call.id}.html`] = callPage(call);
  found.push([
    `${call.method} ${call.path}`,
    callPath(call),
    `${call.summary} ${call.id} ${call.tag}`,
  ]);
}
files["search.json"] = JSON.stringify(found);

mkdirSync(dirname(SITE_FILE), { recursive: true });
writeFileSync(SITE_FILE, packed(JSON.stringify(files)));

/** The pages repeat each other over more than the window of gzip. */
function packed(text: string): Buffer {
  return brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  });
}

function indexPage(): string {
  const guides = GUIDES.map(
    (guide) =>
      `<li><a href="${guide.path}"><strong>${escapeHtml(guide.title)}</strong> <span>${escapeHtml(sentenceOf(aboutGuide(guide)))}</span></a></li>`,
  );
  const calls = TAGS.map(({ name, description }) => {
    const rows = CALLS.filter(({ tag }) => tag === name).map(
      (call) =>
        `<tr><td><a href="${callPath(call)}">${callName(call)}</a></td><td>${escapeHtml(call.summary)}</td></tr>`,
    );
    const head =
      '<thead><tr><th scope="col">Call</th><th scope="col">What it does</th></tr></thead>';
    return `<h2 id="${anchorOf(name)}">${name}</h2><p>${escapeHtml(description)}</p>${tableOf(`${head}<tbody>${rows.join("\n")}</tbody>`)}`;
  });
  const main = `<h1>Guides and calls</h1>${htmlOf(INTRODUCTION).html}<h2 id="guides">Guides</h2><ul class="cards">${guides.join("\n")}</ul>${calls.join("\n")}`;
  return pageOf({ title: "Guides and calls", path: "/docs", main });
}

function sentenceOf(text: string): string {
  return text.replaceAll("`", "").split(/(?<=[.:])\s/)[0] ?? "";
}
