/* The site at /docs: guides, calls, their search, and the texts for language models. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aboutGuide, GUIDES } from "../../../build/reference/guides.ts";
import { OPERATIONS } from "../../../client/src/operations.ts";
import { DOCUMENT_FILES } from "../../../src/server/reference/documents.ts";
import { startServer } from "../../harness.ts";

const server = await startServer();

const read = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(server.url + path, { headers });
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, headers: response.headers, text: await response.text() };
};

/** Calls under the first spelling of their path, as `METHOD path` by name. */
const calls = new Map<string, string>();
for (const file of DOCUMENT_FILES) {
  const { paths } = JSON.parse((await read(`/${file}`)).text);
  for (const [path, methods] of Object.entries<object>(paths)) {
    for (const [method, { operationId, description }] of Object.entries(methods)) {
      if (/^The same as `/.test(description)) continue;
      calls.set(operationId, `${method.toUpperCase()} ${path}`);
    }
  }
}

/** The text of a page, without its tags. */
const textIn = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

const linksIn = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target = ""]) => target);

const PAGES = ["/docs", "/docs/guides/users", "/docs/calls/trackUsers"];

/** Every page of the site, with what was read. */
const everyPage = new Map<string, Awaited<ReturnType<typeof read>>>();
for (const path of [
  "/docs",
  ...GUIDES.map((guide) => guide.path),
  ...[...calls.keys()].map((id) => `/docs/calls/${id}`),
]) {
  everyPage.set(path, await read(path));
}

describe("GET /docs", () => {
  test("GET /docs serves a page without a key, and the page loads nothing from other hosts", async () => {
    for (const path of PAGES) {
      const { status, type, headers, text } = await read(path);
      assert.equal(status, 200, path);
      assert.match(type, /^text\/html/);
      const policy = headers.get("content-security-policy") ?? "";
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
      assert.doesNotMatch(policy, /unsafe|https?:/);
      assert.doesNotMatch(text, /<style| style="| on\w+="|<script>/);
      const loaded = [...text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]*)"/g)];
      for (const [, source = ""] of loaded) assert.match(source, /^(?:\/docs\/|data:,)/);
    }
  });

  test("the first page lists every guide, and every call by its method and path", () => {
    const { text } = everyPage.get("/docs") ?? { text: "" };
    for (const { path } of GUIDES) assert.ok(text.includes(`<a href="${path}">`), path);
    for (const [id, name] of calls) {
      const [, label = ""] =
        new RegExp(`<a href="/docs/calls/${id}">(.*?)</a></td>`).exec(text) ?? [];
      assert.equal(textIn(label), name);
    }
  });

  test("each guide and each call is a page of its own, and every link on it opens", () => {
    const anchors = new Map(
      [...everyPage].map(([path, { text }]) => [
        path,
        new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)),
      ]),
    );
    const elsewhere =
      /^(?:https?:|data:|\/(?:dashboard\/|openapi|manifest|llms|docs\/(?:third|reference)))/;
    const dead: string[] = [];
    for (const [path, { status, text }] of everyPage) {
      assert.equal(status, 200, path);
      for (const link of linksIn(text)) {
        if (elsewhere.test(link)) continue;
        const [target, anchor] = link.split("#");
        const ids = anchors.get(target || path);
        if (!ids || (anchor !== undefined && !ids.has(anchor))) dead.push(`${path}: ${link}`);
      }
    }
    assert.deepEqual(dead, []);
  });

  test("rapport-client is the first sample of each call that it has, and curl of every call", () => {
    for (const id of calls.keys()) {
      const { text } = everyPage.get(`/docs/calls/${id}`) ?? { text: "" };
      const samples = [...text.matchAll(/<figcaption>(.*?)<\/figcaption>(.*?)<\/figure>/gs)];
      const names = samples.map(([, name]) => name);
      if (!(id in OPERATIONS)) {
        assert.deepEqual(names, ["curl"], id);
        continue;
      }
      assert.deepEqual(names, ["rapport-client", "curl"], id);
      const [, , credential] = OPERATIONS[id as keyof typeof OPERATIONS];
      const place = { adminToken: "admin.", scimToken: "scim.", apiKey: "", none: "" }[credential];
      assert.ok(textIn(samples[0]?.[2] ?? "").includes(`rapport.${place}${id}(`), id);
      assert.match(textIn(samples[1]?.[2] ?? ""), /^curl .*'http:\/\/127\.0\.0\.1:8080\//, id);
    }
  });

  test("the page of a call names its fields, those of its entries, and its refusals", () => {
    const { text } = everyPage.get("/docs/calls/trackUsers") ?? { text: "" };
    for (const field of ["events", "external_id", "product_id", "attributes_processed"]) {
      assert.ok(text.includes(`<code>${field}</code>`), field);
    }
    assert.match(textIn(text), /429\s*RATE_LIMITED: Too many requests/);
  });

  test("a mistyped address is a page with 404 that leads back, and no file beside the site is read", async () => {
    const wrong = [
      "/docs/guides/usres",
      "/docs/calls/nothing",
      "/docs/guides/conformance",
      "/docs/nothing/at/all",
    ];
    for (const path of [...wrong, "/docs/..%2F..%2Fpackage.json", "/docs/%2e%2e/package.json"]) {
      const { status, type, text } = await read(path, { accept: "text/html" });
      assert.equal(status, 404, path);
      assert.match(type, /^text\/html/, path);
      assert.doesNotMatch(text, /usres|rapport-server/);
    }
    const { text } = await read("/docs/guides/usres");
    assert.match(text, /<h1>There is no such page\.<\/h1>.*<a href="\/docs">/s);
  });

  test("a page that a browser has is not sent again, and is packed for those who unpack it", async () => {
    const first = await read("/docs", { "accept-encoding": "br" });
    assert.equal(first.headers.get("content-encoding"), "br");
    assert.equal(first.headers.get("cache-control"), "no-cache");
    const again = await read("/docs", { "if-none-match": first.headers.get("etag") ?? "" });
    assert.equal(again.status, 304);
  });
});

describe("the index of the search", () => {
  test("the index has every call, every guide and their headings, and is small", async () => {
    const { status, text } = await read("/docs/search.json");
    assert.equal(status, 200);
    const found = JSON.parse(text) as [title: string, path: string, words: string][];
    for (const [id, name] of calls) {
      assert.ok(
        found.some(([title, path]) => title === name && path === `/docs/calls/${id}`),
        name,
      );
    }
    for (const { title, path } of GUIDES) {
      assert.ok(
        found.some((each) => each[0] === title && each[1] === path),
        title,
      );
    }
    for (const [title, path, words] of found) {
      const [page = "", anchor] = path.split("#");
      const { text: html } = everyPage.get(page) ?? { text: "" };
      assert.ok(anchor === undefined ? html : html.includes(`id="${anchor}"`), `${title}: ${path}`);
      assert.ok(words.length <= 400);
    }
    assert.ok(text.length < 250_000, `${text.length}`);
  });
});

describe("/llms.txt", () => {
  test("the text has a title, a summary and lists of links, and every link opens", async () => {
    const { status, type, text } = await read("/llms.txt");
    assert.equal(status, 200);
    assert.match(type, /^text\/plain; charset=utf-8$/i);
    assert.match(text, /^# Rapport\n\n> .+\n/);
    const [, ...sections] = text.split(/^## /m);
    assert.equal(sections.length, 2);
    const lines = sections.flatMap((section) => section.trim().split("\n").slice(2));
    assert.equal(lines.length, 4 + GUIDES.length);
    for (const line of lines) {
      const [, url = ""] = /^- \[[^\]]+\]\((\S+)\)(?:: \S.*)?$/.exec(line) ?? [];
      assert.ok(url.startsWith(`${server.url}/`), line);
      assert.equal((await fetch(url)).status, 200, url);
    }
  });

  test("/llms-full.txt has every guide and names every call of both documents", async () => {
    const { status, type, text } = await read("/llms-full.txt");
    assert.equal(status, 200);
    assert.match(type, /^text\/plain; charset=utf-8$/i);
    for (const name of calls.values()) assert.ok(text.includes(`\n- \`${name}\`: `), name);
    for (const { title } of GUIDES) assert.ok(text.includes(`\n# ${title}\n`), title);
  });
});

describe("a guide as Markdown", () => {
  test("a guide has its own text, and a link in it leads to another guide or is only its text", async () => {
    for (const guide of GUIDES) {
      const { type, text } = await read(`${guide.path}.md`);
      assert.match(type, /^text\/plain/);
      assert.ok(text.startsWith(`# ${guide.title}\n`), guide.name);
      assert.ok(aboutGuide(guide).length < 1_000);
      for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)) {
        assert.equal((await read(target)).status, 200, `${guide.name}: ${target}`);
      }
    }
  });
});
