/*
 * Pages that are short and costly: HTML that a parser repeats or moves around, fields that must be
 * compared, loops and filters. Whatever happens to them, the server continues to serve everyone
 * else.
 */
import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, test } from "node:test";
import { documentOf } from "../../../src/features/preference-centers/page-document.ts";
import { parseHtml } from "../../../src/features/preference-centers/page-html.ts";
import { startServer } from "../../harness.ts";
import {
  center,
  createCenter,
  emptyWorkspace,
  openPage,
  PATH,
  pageOf,
} from "../../preference-center-calls.ts";

const server = await startServer();
const workspace = await emptyWorkspace(server);

const formatting = (count: number) =>
  Array.from({ length: count }, (_, index) => `<b id=${index}>`).join("");

const field = (index: number) =>
  `<input type=checkbox name=${index}.field_name><input type=hidden name=x${index}>`;

/** Each takes a size; twice the size must not take much more than twice the work. */
const ATTACKS: Readonly<Record<string, (size: number) => string>> = {
  "formatting elements that are repeated in every paragraph": (size) =>
    `<p>${formatting(240)}</p>${"<p>x</p>".repeat(size)}`,
  "a few formatting elements that are repeated in every paragraph": (size) =>
    `<p>${formatting(30)}</p>${"<p>x</p>".repeat(size)}`,
  "checkboxes with hidden inputs": (size) =>
    Array.from({ length: size }, (_, index) => field(index)).join(""),
  "elements without content": (size) => "<br>".repeat(size),
  "texts and elements that a table moves out": (size) =>
    `<table>${"x<i></i>".repeat(size)}</table>`,
  "misnested elements that take their children along": (size) =>
    `<b><p>${"x<br>".repeat(size)}${"</b>".repeat(size)}`,
  "links that close one another": (size) => "<a><p>".repeat(size),
  "elements inside one another": (size) => "<div>".repeat(size) + "</div>".repeat(size),
  "attributes of one element": (size) =>
    `<p ${Array.from({ length: size }, (_, index) => `a${index}`).join(" ")}>`,
  "blocks of Liquid inside one another": (size) =>
    "{% if a %}".repeat(size) + "{% endif %}".repeat(size),
  "tags that never end": (size) => "<".repeat(size),
};

const MOST_DELAY_MS = 50;

/** The longest time the event loop was held; the best of five, since other processes delay it too. */
async function longestDelay(attack: () => Promise<void>): Promise<number> {
  const delays: number[] = [];
  while (delays.length < 5 && Math.min(...delays) > MOST_DELAY_MS) {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await attack();
    delay.disable();
    delays.push(delay.max / 1e6);
  }
  return Math.min(...delays);
}

async function send(page: string): Promise<void> {
  const body = center({ name: "attack", preference_center_page_html: page });
  const { status } = await workspace.call<any>("PUT", `${PATH}/${centerId}`, body);
  assert.ok(status === 200 || status === 400, String(status));
}

const centerId = await createCenter(workspace, { name: "attack" });

describe("costly pages and the event loop", () => {
  for (const [name, pageOfSize] of Object.entries(ATTACKS)) {
    for (const size of [6_700, 130_900]) {
      const page = pageOfSize(size);
      if (page.length > 524_288) continue;
      test(`checking a costly page blocks the event loop for less than 50 ms: ${size} ${name}`, async () => {
        const delay = await longestDelay(() => send(page));
        assert.ok(delay < MOST_DELAY_MS, `${delay} ms`);
      });
    }
  }

  test("a page that is too costly to render for some users is replaced by the default page for them", async () => {
    const page = `<i id="own">x</i>
      {% for a in custom_attribute.list %}{% for b in (1..2000) %}x{% endfor %}{% endfor %}`;
    const id = await createCenter(workspace, { name: "some", preference_center_page_html: page });
    const list = Array.from({ length: 100 }, (_, index) => `v${index}`);
    await workspace.track({ attributes: [{ external_id: "eve", list }, { external_id: "ada" }] });
    const own = await openPage(server, await pageOf(workspace, id, "ada"));
    assert.match(own.body, /id="own"/);
    const eves = await pageOf(workspace, id, "eve");
    const delay = await longestDelay(async () => {
      const { status, body } = await openPage(server, eves);
      assert.equal(status, 200);
      assert.match(body, /Choose what you hear from us/);
    });
    assert.ok(delay < MOST_DELAY_MS, `${delay} ms`);
  });
});

describe("the work of parsing a page", () => {
  // The parser moves children one by one and looks for each among its siblings: that is quadratic, by
  // a small factor, until the budget ends it.
  const MOVES_CHILDREN = [
    "texts and elements that a table moves out",
    "misnested elements that take their children along",
  ];

  for (const name of MOVES_CHILDREN) {
    test(`the work budget stops the parsing of a costly page: ${name}`, () => {
      const { fault, work } = parseHtml(ATTACKS[name]?.(50_000) ?? "");
      assert.ok(fault?.budget, "no budget was exceeded");
      assert.ok(work <= 300_000, String(work));
    });
  }

  for (const [name, pageOfSize] of Object.entries(ATTACKS)) {
    if (MOVES_CHILDREN.includes(name)) continue;
    test(`the work of parsing a page grows at most linearly with its size: ${name}`, () => {
      const [one, two] = [200, 400].map((size) => parseHtml(pageOfSize(size)));
      assert.ok(one && two);
      const isRefused = one.fault?.budget !== undefined && two.fault?.budget !== undefined;
      assert.ok(isRefused || two.work <= 2.2 * one.work, `${one.work}, then ${two.work}`);
    });
  }

  test("the checkboxes of a page are matched with their hidden fields in one pass", () => {
    const page = `<form>${Array.from({ length: 2_000 }, (_, index) => field(index)).join("")}</form>`;
    let reads = 0;
    const counted = new Proxy(Object(page), {
      get: (target, name) => {
        if (name === "slice") reads++;
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    documentOf(counted as string, { title: "t", options: OPTIONS, locale: "en" });
    assert.ok(reads < 100_000, `${reads} reads of the page`);
  });

  const OPTIONS = { "meta-viewport-content": "width=device-width" };
});

test("a page that exceeds a budget is refused with the name of the budget and, for HTML, the line", async () => {
  const cases: [budget: string, page: string][] = [
    ["html_formatting", `\n<p>${formatting(240)}</p>`],
    ["html_nodes", `\n${"<br>".repeat(30_000)}`],
    ["html_depth", `\n${"<div>".repeat(300)}`],
    ["liquid_depth", "{% if a %}".repeat(200) + "{% endif %}".repeat(200)],
    ["liquid_tags", "{{ a }}".repeat(20_000)],
  ];
  for (const [budget, page] of cases) {
    const body = center({ name: "attack", preference_center_page_html: page });
    const answer = await workspace.call<any>("PUT", `${PATH}/${centerId}`, body);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.code, "PAGE_TOO_COMPLEX");
    assert.equal(answer.body.budget, budget);
    if (budget.startsWith("html")) assert.equal(answer.body.line, 2);
  }
});
