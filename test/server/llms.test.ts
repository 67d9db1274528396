/* The texts for language models, and the guides as Markdown. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GUIDES } from "../../src/server/reference/guides.ts";
import { startServer } from "../harness.ts";

const server = await startServer();

const read = async (path: string) => {
  const response = await fetch(server.url + path);
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text: await response.text() };
};

describe("/llms.txt", () => {
  test("the text has a title, a summary and lists of links, and every link opens", async () => {
    const { status, type, text } = await read("/llms.txt");
    assert.equal(status, 200);
    assert.match(type, /^text\/plain; charset=utf-8$/i);
    assert.match(text, /^# Rapport\n\n> .+\n/);
    const [, ...sections] = text.split(/^## /m);
    assert.equal(sections.length, 2);
    const lines = sections.flatMap((section) => section.trim().split("\n").slice(2));
    assert.equal(lines.length, 3 + GUIDES.length);
    for (const line of lines) {
      const [, url = ""] = /^- \[[^\]]+\]\((\S+)\)(?:: \S.*)?$/.exec(line) ?? [];
      assert.ok(url.startsWith(`${server.url}/`), line);
      assert.equal((await fetch(url)).status, 200, url);
    }
  });

  test("/llms-full.txt has every guide and names every call of the document", async () => {
    const { status, type, text } = await read("/llms-full.txt");
    assert.equal(status, 200);
    assert.match(type, /^text\/plain; charset=utf-8$/i);
    const document = JSON.parse((await read("/openapi.json")).text);
    for (const [path, operations] of Object.entries<object>(document.paths)) {
      for (const method of Object.keys(operations)) {
        if (method === "parameters") continue;
        assert.ok(text.includes(`\n- \`${method.toUpperCase()} ${path}\`: `), `${method} ${path}`);
      }
    }
    for (const name of GUIDES) {
      const [title = "nothing"] = (await read(`/docs/guides/${name}.md`)).text.split("\n");
      assert.match(title, /^# \S/);
      assert.ok(text.includes(`\n${title}\n`), name);
    }
  });
});

describe("a guide as Markdown", () => {
  test("a link in a guide leads to another guide, or is only its text", async () => {
    for (const name of GUIDES) {
      const { text } = await read(`/docs/guides/${name}.md`);
      for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)) {
        assert.equal((await read(target)).status, 200, `${name}: ${target}`);
      }
    }
  });

  test("a name that is that of no guide gets 404, and no other file is read", async () => {
    for (const name of ["nothing.md", "conformance.md", "..%2F..%2Fpackage.json", "..%2Fusers"]) {
      const { status, text } = await read(`/docs/guides/${name}`);
      assert.equal(status, 404, name);
      assert.deepEqual(JSON.parse(text), { message: "There is no such guide." });
    }
  });
});
