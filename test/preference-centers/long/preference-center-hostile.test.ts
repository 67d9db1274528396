/* Attempts of a page or the values in it: scripts through attributes, endless loops, huge output. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { startServer } from "../../harness.ts";
import {
  center,
  createCenter,
  emptyWorkspace,
  openPage,
  PATH,
  pageOf,
  textIn,
} from "../../preference-center-calls.ts";

const server = await startServer();
const workspace = await emptyWorkspace(server);

const refusalOf = async (page: string, field = "preference_center_page_html") => {
  const answer = await workspace.call<any>("POST", PATH, center({ name: "no", [field]: page }));
  assert.equal(answer.status, 400, page.slice(0, 200));
  return answer.body;
};

const FIRST_LINES = "<!doctype html>\n<p>\n";

describe("invalid Liquid and HTML", () => {
  const cases: [page: string, line: number, reason: RegExp][] = [
    ["{% iff x %}", 3, /tag "iff" not found/],
    ["{% if x %}", 3, /not closed/],
    ["{{ x", 3, /not closed/],
    ["{{ x | nofilter }}", 3, /undefined filter: nofilter/],
    ["{% include 'secret' %}", 3, /tag "include" not found/],
    ["{% render 'secret' %}", 3, /tag "render" not found/],
    ["{% layout 'secret' %}", 3, /tag "layout" not found/],
    ["{% form_field_name x %}", 3, /':email_global_state'/],
    ["{% form_field_name :subscription_group %}", 3, /':subscription_group' and the id/],
    ["{% translation two words %}x{% endtranslation %}", 3, /id without spaces/],
    [
      "{% translation a %}{% translation b %}x{% endtranslation %}{% endtranslation %}",
      3,
      /cannot be nested/,
    ],
    ["</p><div>\n<span>x</div>", 4, /'<span>' is not closed/],
    ["</section>", 3, /'<\/section>' closes nothing/],
    ["<a href='x>y</a>", 3, /a quote in it, is not closed/],
    ['\n<a href="x"title="y">z</a>', 4, /need a space/],
    ["<a href=>z</a>", 3, /no value/],
    ['<a title=x"y>z</a>', 3, /without quotes/],
    ["a < b <3", 3, /'&lt;'/],
    ["<!-- never ended", 3, /comment/],
    ["<style>a{}", 3, /only text/],
    ["{% if x %}\n<div>\n{% endif %}", 4, /'<div>' is not closed/],
    ["<div/>", 3, /'<div>' is not closed/],
    ["<b>".repeat(300) + "</b>".repeat(300), 3, /nested|formatting elements/],
  ];

  test("a page with invalid Liquid or HTML is refused at create and update with the field and the line", async () => {
    const id = await createCenter(workspace, { name: "kept" });
    for (const [fault, line, reason] of cases) {
      const page = FIRST_LINES + fault;
      const body = await refusalOf(page);
      assert.match(body.message, reason);
      assert.match(body.message, new RegExp(`'preference_center_page_html'.* line ${line}[,:]`));
      assert.equal(body.line, line, fault);
      const confirmation = await refusalOf(page, "confirmation_page_html");
      assert.match(confirmation.message, /^'confirmation_page_html'/);
      const put = await workspace.call<any>("PUT", `${PATH}/${id}`, {
        ...center({ name: "kept" }),
        preference_center_page_html: page,
      });
      assert.equal(put.status, 400);
    }
  });

  test("a page whose HTML is completed by Liquid is accepted", async () => {
    const pages = [
      "<b {% if x %}class='a'{% else %}class='b'{% endif %}>x</b>",
      "{% if y %}<i>{% else %}<i class=a>{% endif %}x</i>",
      "{% case z %}before{% when 1 %}<u>{% when 2 %}<s>{% else %}<b>{% endcase %}x</u>",
      "{% unless y %}<p>{% elsif x %}<div>{% endunless %}</p>",
      "{% raw %}{% if %}{{ }}{{{% endraw %}",
      "{% comment %}<div>{% if x %}</p>{% endif %}{% endcomment %}",
      "<input value={{ x }} {% if y %}checked{% endif %}><h{{ n }}>x</h{{ n }}>",
      "<ul><li>a<li>b</ul><table><tr><td>x</table><p>a<p>b<br><img src=x alt=''>",
      "<svg viewBox='0 0 1 1'><path d='M0 0'/></svg>",
      "{% for a in b %}<i>{{ a }}</i>{% else %}<b>none</b>{% endfor %}",
      "just words",
    ];
    for (const page of pages) {
      const name = `p${pages.indexOf(page)}`;
      await createCenter(workspace, { name, preference_center_page_html: page });
    }
  });

  test("scripts, frames, style sheets and forms in a page are accepted with a warning", async () => {
    const page = `<script>alert(1)</script>
<a href="javascript:alert(1)" onclick="alert(2)">x</a>
<iframe src="https://x.example"></iframe>
<link rel="stylesheet" href="https://x.example/a.css">
<form action="https://x.example/"></form>`;
    const body = center({ name: "warned", preference_center_page_html: page });
    const answer = await workspace.call<any>("POST", PATH, body);
    assert.equal(answer.status, 201);
    assert.deepEqual(
      answer.body.warnings.map((each: any) => [each.code, each.line]),
      [1, 2, 2, 3, 4, 5].map((line) => ["NO_EFFECT", line]),
    );
    for (const { message, field } of answer.body.warnings) {
      assert.equal(field, "preference_center_page_html");
      assert.match(message, /^'preference_center_page_html', line \d: a page /);
    }
  });
});

describe("pages that would exceed time or memory", () => {
  const pages: Record<string, string> = {
    "a range without end": "{% for i in (1..1000000000) %}x{% endfor %}",
    "loops in loops":
      "{% for a in (1..9999) %}{% for b in (1..9999) %}{% for c in (1..9999) %}{% endfor %}{% endfor %}{% endfor %}",
    "a huge output":
      "{% for a in (1..9999) %}{% for b in (1..9999) %}0123456789{% endfor %}{% endfor %}",
    "a string that doubles by capture":
      "{% capture x %}0123456789{% endcapture %}{% for i in (1..60) %}{% capture x %}{{x}}{{x}}{% endcapture %}{% endfor %}{{x}}",
    "a string that doubles by append":
      "{% assign x = 'aaaaaaaaaaaaaaaa' %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}{{x}}",
    "a date that is padded without end": "{{ 'now' | date: '%999999999d' }}",
    "arrays that double":
      "{% assign x = 'a,b' | split: ',' %}{% for i in (1..60) %}{% assign x = x | concat: x %}{% endfor %}{{x}}",
    "replacements that multiply":
      "{% assign x = 'aaaaaaaaaaaaaaaa' %}{% for i in (1..60) %}{% assign x = x | replace: 'a', x %}{% endfor %}{{x}}",
    "blocks nested without end": "{% if a %}".repeat(4_000) + "{% endif %}".repeat(4_000),
    "too many tags": "{{ a }}".repeat(20_000),
    "a page too long": "x".repeat(524_289),
    "elements nested without end": "<b>".repeat(60_000) + "</x>".repeat(60_000),
    "elements nested in an alternative": `{% if a %}{% else %}${"<b>".repeat(60_000)}{% endif %}`,
  };

  for (const [name, page] of Object.entries(pages)) {
    test(`a page that exceeds the limits is refused when it is written: ${name}`, async () => {
      const { message } = await refusalOf(page);
      assert.match(message, /is rejected|cannot be rendered|longer|Liquid tags/);
    });
  }

  test("a large page of openings that are never closed is still checked", async () => {
    const page = `{% raw %}${"{{".repeat(9_000)}${"x".repeat(450_000)}{% endraw %}`;
    await createCenter(workspace, { name: "openings", preference_center_page_html: page });
    await refusalOf("<".repeat(400_000));
  });
});

describe("user values in a page", () => {
  const page = `<p id="text">{{\${first_name}}}</p><a id="quoted" title="{{\${first_name}}}" class='{{\${first_name}}}'>x</a>
<i id="echo">{% echo \${first_name} %}</i><i id="cycle">{% cycle \${first_name} %}</i>
<i id="captured">{% capture x %}{{\${first_name}}}{% endcapture %}y</i>
<i id="twice">{{\${first_name} | escape}}</i><i id="filtered">{{\${first_name} | upcase}}</i>`;

  test("user values are escaped everywhere in a page", async () => {
    const id = await createCenter(workspace, { name: "values", preference_center_page_html: page });
    await workspace.track({ attributes: [{ external_id: "eve" }] });
    const path = await pageOf(workspace, id, "eve");
    const nasty = fc.oneof(
      fc.constantFrom(
        `"><script>alert(1)</script>`,
        `' onmouseover='alert(1)`,
        "{{ 7 | times: 7 }}{% raw %}",
        "</p></title></style><svg onload=alert(1)>",
        "\ufdd0\ufdd5\ufdd6script\ufddf",
        "&lt;b&gt; & &amp;",
        `\${email_address}`,
      ),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 }),
    );
    await fc.assert(
      fc.asyncProperty(nasty, async (first_name) => {
        const tracked = await workspace.track({ attributes: [{ external_id: "eve", first_name }] });
        fc.pre(tracked.status === 201 && tracked.body.errors === undefined);
        const { status, body: html } = await openPage(server, path);
        assert.equal(status, 200);
        const written = htmlOf(first_name);
        for (const id of ["text", "echo", "cycle", "twice"]) {
          assert.equal(textIn(html, id), written, id);
        }
        assert.ok(html.includes(`title="${written}" class='${written}'`));
      }),
      { numRuns: 40 },
    );
  });

  const htmlOf = (text: string) =>
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&#34;")
      .replaceAll("'", "&#39;");

  test("Liquid in a page reaches no prototypes, methods or globals", async () => {
    const probes = [
      "custom_attribute.constructor",
      "custom_attribute.__proto__",
      `custom_attribute.\${constructor}`,
      `subscribed_state.\${toString}`,
      "constructor",
      "process",
      `\${email_address}.constructor`,
      `custom_attribute.\${home}.constructor`,
      "subscription_groups.constructor",
    ];
    const html = probes.map((probe, index) => `<i id="p${index}">{{${probe}}}</i>`).join("");
    const id = await createCenter(workspace, { name: "probes", preference_center_page_html: html });
    await workspace.track({ attributes: [{ external_id: "mal", home: { city: "x" } }] });
    const { body } = await openPage(server, await pageOf(workspace, id, "mal"));
    for (const [index, probe] of probes.entries()) {
      const shown = textIn(body, `p${index}`);
      assert.equal(shown, "", probe);
    }
  });
});

describe("keys that cannot be stored", () => {
  test("a NUL or a lone surrogate in a key of options or translations is refused", async () => {
    for (const key of ["a\0b", "\ud800"]) {
      for (const body of [{ options: { [key]: "x" } }, { translations: { [key]: 5 } }]) {
        const answer = await workspace.call<any>("POST", PATH, center({ name: "keys", ...body }), {
          headers: { "idempotency-key": `${Object.keys(body)[0]} ${key.charCodeAt(0)}` },
        });
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, /options|translations/);
      }
    }
  });

  test("a language or a text named __proto__ is refused, never dropped", async () => {
    const send = (translations: string) =>
      workspace.call<any>("POST", PATH, undefined, {
        raw: JSON.stringify(center({ name: "proto" })).replace(
          /\}$/,
          `,"translations":${translations}}`,
        ),
      });
    const refused = await send('{"__proto__":{"a":"b"}}');
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /'__proto__'/);
    assert.equal((await send('{"es":{"__proto__":"b"}}')).status, 400);
  });
});
